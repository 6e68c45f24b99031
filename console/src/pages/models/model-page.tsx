import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useSession } from '../../app/session.ts';
import { exactMoney, placesOf } from '../../format/money.ts';
import { useFormats } from '../../format/numbers.ts';
import { partName } from '../../format/parts.ts';
import { ClientTabs } from '../../pieces/client-tabs.tsx';
import { Icon } from '../../pieces/icon.tsx';
import { Money } from '../../pieces/money.tsx';
import { NameLink } from '../../pieces/name-link.tsx';
import { placeText } from '../../pieces/place-in-file.ts';
import { Snippet } from '../../pieces/snippet.tsx';
import { ErrorState, Skeleton } from '../../pieces/states.tsx';
import { Table } from '../../pieces/table.tsx';
import { Tabs } from '../../pieces/tabs.tsx';
import { curlOf, protocols, protocolsOf, type SnippetProtocol } from '../../snippets/curl.ts';
import { useWords } from '../../words/index.ts';
import { nativeProtocol, writePartner } from '../playground/partners.ts';
import { protocolsFor } from '../playground/speak.ts';
import styles from './page.module.css';
import { modelQuery, type ModelDetail } from './query.ts';
import { ChangeModel } from './change-model.tsx';
import { Hours, Success } from './success.tsx';
import { NoPrice } from './tables.tsx';

/** One model: its prices over time, how fast it was, and how to ask it. */
export function ModelPage() {
  const say = useWords();
  const { id } = useParams({ from: '/inside/models/$id' });
  const found = useQuery(modelQuery(id));
  return (
    <>
      <header className="top">
        <Link className="button bare" to="/models" activeOptions={{ exact: true }}>
          <Icon name="left" />
          {say('models.title')}
        </Link>
        <h1 className={styles['id']}>{id}</h1>
      </header>
      <div className="body">
        {found.isError && <ErrorState error={found.error} onRetry={() => void found.refetch()} />}
        {found.isPending && <Skeleton rows={8} />}
        {found.isSuccess && <View model={found.data} />}
      </div>
    </>
  );
}

function View({ model }: { readonly model: ModelDetail }) {
  const say = useWords();
  const formats = useFormats();
  const { playground, permissions } = useSession();
  const [isChanging, setChanging] = useState(false);
  const { settings } = model;
  const facts = [
    say(`models.kinds.${model.type}`),
    model.context_window === null
      ? []
      : say('models.windowOf', { count: formats.count(model.context_window) }),
    model.max_output_tokens === null
      ? []
      : say('models.outputOf', { count: formats.count(model.max_output_tokens) }),
  ].flat();
  return (
    <>
      <div className={styles['summary']}>
        {model.display_name !== model.id && <span className="strong">{model.display_name}</span>}
        <span>{facts.join(', ')}</span>
        <span className="quiet">
          {say(`models.declared.${model.origin}`)}
          {settings?.declared_in && (
            <>
              {': '}
              <code>{placeText(settings.declared_in)}</code>
            </>
          )}
        </span>
        {!model.enabled && <span className="strong">{say('models.disabled')}</span>}
        <span className={styles['actions']}>
          {playground && protocolsFor(model.type).length > 0 && model.priced && (
            <Link
              className="button"
              to="/playground"
              search={{ ask: [writePartner({ model: model.id, protocol: nativeProtocol(model) })] }}
            >
              {say('models.try')}
            </Link>
          )}
          {permissions.includes('channels.read') && (
            <Link className="button" to="/explain" search={{ model: model.id }}>
              {say('channels.explain')}
            </Link>
          )}
          <Link className="button" to="/requests" search={{ filter: `model:${quoted(model.id)}` }}>
            {say('models.requests')}
          </Link>
          {settings?.editable === true && permissions.includes('models.write') && (
            <button type="button" className="button main" onClick={() => setChanging(true)}>
              {say('models.change')}
            </button>
          )}
        </span>
      </div>
      {isChanging && settings !== null && (
        <ChangeModel model={{ ...model, settings }} onClose={() => setChanging(false)} />
      )}
      <div className={styles['two']}>
        <Prices model={model} />
        <Recent model={model} />
        <Use model={model} />
        <Facts model={model} />
      </div>
      {model.channels !== null && <Channels channels={model.channels} />}
    </>
  );
}

const quoted = (name: string) => (/\s/.test(name) ? `"${name}"` : name);

function Prices({ model }: { readonly model: ModelDetail }) {
  const say = useWords();
  const formats = useFormats();
  const places = placesOf(
    model.prices.map(({ price }) => price),
    exactMoney,
  );
  const earlier = model.history.filter(({ version }) => version !== model.price_version);
  const since = model.history.find(({ version }) => version === model.price_version)?.since;
  return (
    <section className={styles['section']}>
      <h2 className="title">
        {say('models.prices')}{' '}
        {since !== undefined && (
          <span className="quiet">{say('models.since', { day: formats.day(since) })}</span>
        )}
      </h2>
      {!model.priced && <NoPrice />}
      {model.prices.length > 0 && (
        <table className={`table ${styles['prices']}`}>
          <thead className="hidden">
            <tr>
              <th scope="col">{say('models.columns.price')}</th>
              <th scope="col">USD</th>
              <th scope="col">{say('models.unit')}</th>
            </tr>
          </thead>
          <tbody>
            {model.prices.map(({ part, price, unit }) => (
              <tr key={part}>
                <td>{partName(part, say, formats.count)}</td>
                <td className="number">
                  <Money amount={price} width={places} isExact />
                </td>
                <td className="quiet">{say(`models.units.${unit}`)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {earlier.length > 0 && (
        <details className={styles['history']}>
          <summary>{say('models.earlier', { count: earlier.length })}</summary>
          <ul>
            {earlier.map(({ version, since: from, prices }) => (
              <li key={version}>
                <span className="second">{formats.day(from)}</span>{' '}
                {prices
                  .map(({ part, price }) => `${partName(part, say, formats.count)} ${price}`)
                  .join(', ')}
              </li>
            ))}
          </ul>
        </details>
      )}
    </section>
  );
}

function Recent({ model: { recent } }: { readonly model: ModelDetail }) {
  const say = useWords();
  const formats = useFormats();
  return (
    <section className={styles['section']}>
      <h2 className="title">{say('models.lately')}</h2>
      {recent === null ? (
        <p className="quiet">{say('models.unasked')}</p>
      ) : (
        <dl className={styles['facts']}>
          <dt>{say('models.columns.success')}</dt>
          <dd>
            <Success share={recent.success} />{' '}
            {recent.requests !== null && (
              <span className="quiet">
                {say('models.ofRequests', { count: formats.count(recent.requests) })}
              </span>
            )}
          </dd>
          <dt>{say('models.columns.hours')}</dt>
          <dd>
            <Hours hours={recent.hours} />
          </dd>
          <dt>{say('models.columns.firstToken')}</dt>
          <dd>{recent.first_token_ms === null ? '–' : formats.duration(recent.first_token_ms)}</dd>
          <dt>{say('models.columns.speed')}</dt>
          <dd>
            {recent.tokens_per_second === null
              ? '–'
              : say('models.tokensPerSecond', {
                  count: formats.count(Math.round(recent.tokens_per_second)),
                })}
          </dd>
          <dt>{say('models.columns.duration')}</dt>
          <dd>{recent.duration_ms === null ? '–' : formats.duration(recent.duration_ms)}</dd>
        </dl>
      )}
    </section>
  );
}

function Use({ model }: { readonly model: ModelDetail }) {
  const say = useWords();
  const navigate = useNavigate();
  const { gateway } = useSession();
  const offered = protocolsOf(model.type);
  const { speak, client } = useSearch({ from: '/inside/models/$id' });
  const open = offered.find((name) => name === speak) ?? offered[0] ?? 'chat';
  const { path, body } = protocols[open];
  return (
    <section className={styles['section']}>
      <h2 className="title">{say('models.use')}</h2>
      <Tabs<SnippetProtocol>
        label={say('models.use')}
        tabs={offered.map((name) => ({ name, title: name }))}
        open={open}
        onOpen={(name) =>
          void navigate({
            to: '.',
            search: (present) => ({ ...present, speak: name }),
            replace: true,
            resetScroll: false,
          })
        }
      >
        <Snippet
          text={curlOf({
            url: gateway.url,
            path: path(model.id),
            body: body(model.id, 'Hello!'),
          })}
          label="curl"
        />
      </Tabs>
      {model.type === 'chat' && (
        <>
          <h3 className={`title ${styles['clients']}`}>{say('models.clients')}</h3>
          <ClientTabs
            open={client ?? 'Claude Code'}
            onOpen={(name) =>
              void navigate({
                to: '.',
                search: (present) => ({ ...present, client: name }),
                replace: true,
                resetScroll: false,
              })
            }
            // It is the one that was opened, with a price or without.
            models={[{ ...model, priced: true }]}
          />
        </>
      )}
      <p className={`hint ${styles['hint']}`}>{say('models.keyHint')}</p>
    </section>
  );
}

function Facts({ model }: { readonly model: ModelDetail }) {
  const say = useWords();
  return (
    <section className={styles['section']}>
      <h2 className="title">{say('models.facts')}</h2>
      <dl className={styles['facts']}>
        <dt>{say('models.names')}</dt>
        <dd>
          {[model.id, ...model.aliases].map((name, at) => (
            <span key={name}>
              {at > 0 && ', '}
              <code>{name}</code>
            </span>
          ))}
        </dd>
        <dt>{say('models.columns.protocols')}</dt>
        <dd>{model.protocols.join(', ')}</dd>
        {model.capabilities.length > 0 && (
          <>
            <dt>{say('models.capabilities')}</dt>
            <dd>{model.capabilities.join(', ')}</dd>
          </>
        )}
        <dt>{say('models.groups')}</dt>
        <dd>
          {model.factors
            .map(({ group: name, price_multiplier: factor }) =>
              factor === '1' ? name : say('models.groupFactor', { name, factor }),
            )
            .join(', ')}
        </dd>
        {model.price_version !== null && (
          <>
            <dt>{say('models.version')}</dt>
            <dd>
              <code>{model.price_version}</code>
            </dd>
          </>
        )}
      </dl>
    </section>
  );
}

function Channels({ channels }: { readonly channels: NonNullable<ModelDetail['channels']> }) {
  const say = useWords();
  return (
    <section className={styles['section']}>
      <h2 className="title">{say('models.channels')}</h2>
      <Table
        label={say('models.channels')}
        heads={[
          say('models.channel'),
          say('models.provider'),
          say('models.upstream'),
          [say('models.columns.protocols'), 'less'],
          [say('models.groups'), 'less'],
          [say('models.priority'), 'number less'],
        ]}
      >
        {channels.map((channel) => (
          <tr key={channel.name}>
            <td className="strong">
              <NameLink kind="channel" name={channel.name} />
            </td>
            <td>{channel.provider}</td>
            <td>
              <code>{channel.upstream_model}</code>
            </td>
            <td className="second less" title={channel.protocols.join(', ')}>
              <span className="cut">{channel.protocols.join(', ')}</span>
            </td>
            <td className="less">{channel.groups.join(', ')}</td>
            <td className="number less">{channel.priority}</td>
          </tr>
        ))}
      </Table>
    </section>
  );
}
