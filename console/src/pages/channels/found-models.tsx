import { useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { createPortal } from 'react-dom';
import { ApiFailure, write, type Body, type Result } from '../../api/client.ts';
import { useSession } from '../../app/session.ts';
import { useFormats } from '../../format/numbers.ts';
import { Icon } from '../../pieces/icon.tsx';
import { useWords } from '../../words/index.ts';
import { AddModel } from '../models/change-model.tsx';
import { channelFormQuery, type Draft, type ServedModel } from './draft.ts';
import styles from './editor.module.css';

type Found = Result<'findChannelModels'>;
type FoundModel = Found['models'][number];

interface Props {
  /** What would be asked: as the API takes it. */
  readonly bodyOf: () => Body<'findChannelModels'>;
  readonly models: readonly ServedModel[];
  readonly onChange: (change: Partial<Draft>) => void;
}

const upstreamOf = ({ name, upstream }: ServedModel) => (upstream === '' ? name : upstream);

/** More are searched by their names. */
const mostShown = 200;

/** What the upstream lists: ticked where the channel serves it; with its price, or a way to give it one. */
export function FoundModels({ bodyOf, models, onChange }: Props) {
  const say = useWords();
  const formats = useFormats();
  const client = useQueryClient();
  const { csrf_token: token } = useSession();
  const [found, setFound] = useState<Found | null>(null);
  const [failure, setFailure] = useState<ApiFailure | null>(null);
  const [isBusy, setBusy] = useState(false);
  const [filter, setFilter] = useState('');
  const [pricing, setPricing] = useState<string | null>(null);

  async function find(): Promise<void> {
    setBusy(true);
    setFailure(null);
    try {
      setFound(await write<'findChannelModels'>('POST', '/channels/models', bodyOf(), token));
    } catch (error) {
      setFound(null);
      if (!(error instanceof ApiFailure)) throw error;
      setFailure(error);
    } finally {
      setBusy(false);
    }
  }
  const serves = (name: string) => models.some((model) => upstreamOf(model) === name);
  const tick = (name: string, is: boolean) =>
    onChange({
      models: is
        ? [...models.filter((model) => model.name !== ''), { name, upstream: '' }]
        : models.filter((model) => upstreamOf(model) !== name),
    });
  const listed = found?.models.filter(({ name }) => name.includes(filter.trim())) ?? [];
  const shown = listed.slice(0, mostShown);
  const missing =
    found?.class === 'works'
      ? models
          .map(upstreamOf)
          .filter(
            (name) =>
              name !== '' &&
              !name.includes('*') &&
              found.models.every((model) => model.name !== name),
          )
      : [];
  return (
    <div className={styles['stack']}>
      <div>
        <button type="button" className="button" disabled={isBusy} onClick={() => void find()}>
          {say(isBusy ? 'channels.found.running' : 'channels.found.find')}
        </button>
      </div>
      <div role="status">
        {failure !== null && (
          <p className="problem">
            {failure.code === 'too_many'
              ? say('channels.trial.tooMany')
              : `${say('channels.trial.notSent')} ${failure.fields.map(({ path }) => path).join(', ')}`}
          </p>
        )}
        {found !== null && found.class !== 'works' && (
          <p className={`${styles['note']} ${styles['bad']}`}>
            <span className="strong">
              {found.class === 'no-list'
                ? say('channels.found.noList')
                : say(`channels.trial.outcomes.${found.class}`)}
            </span>{' '}
            {found.status !== null && `${found.status} `}
            {found.words !== null && <code>{found.words}</code>}
          </p>
        )}
        {missing.length > 0 && (
          <p className={`${styles['note']} ${styles['bad']}`}>
            <span className="strong">{say('channels.found.missing')}</span> {missing.join(', ')}
          </p>
        )}
        {found?.class === 'works' && found.models.length === 0 && (
          <p>{say('channels.found.empty')}</p>
        )}
      </div>
      {found !== null && found.models.length > 0 && (
        <>
          <label className="hidden" htmlFor="found-filter">
            {say('channels.found.filter', { count: found.models.length })}
          </label>
          <input
            className="input"
            id="found-filter"
            type="search"
            value={filter}
            placeholder={say('channels.found.filter', { count: found.models.length })}
            autoComplete="off"
            onChange={({ target }) => setFilter(target.value)}
          />
          <div
            className={styles['found']}
            tabIndex={0}
            role="region"
            aria-label={say('channels.found.title')}
          >
            <table className="table">
              <thead>
                <tr>
                  <th scope="col">{say('channels.upstreamName')}</th>
                  <th scope="col" className="less">
                    {say('channels.found.serves')}
                  </th>
                  <th scope="col" className="number">
                    {say('models.columns.input')}
                  </th>
                  <th scope="col" className="number">
                    {say('models.columns.output')}
                  </th>
                </tr>
              </thead>
              <tbody>
                {shown.map((model) => (
                  <tr key={model.name}>
                    <td>
                      <label className={styles['tick']}>
                        <input
                          type="checkbox"
                          checked={serves(model.name)}
                          disabled={model.model === null && !serves(model.name)}
                          onChange={({ target }) => tick(model.name, target.checked)}
                        />
                        {model.name}
                      </label>
                    </td>
                    <td className="less second">
                      {model.others > 0 && say('channels.found.others', { count: model.others })}
                    </td>
                    {model.priced ? (
                      <>
                        <td className="number">{model.input ?? '–'}</td>
                        <td className="number">{model.output ?? '–'}</td>
                      </>
                    ) : (
                      <td className="number" colSpan={2}>
                        <NoPriceYet of={model} onGive={() => setPricing(model.name)} />
                      </td>
                    )}
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
          {listed.length > shown.length && (
            <p className="hint">
              {say('channels.found.more', { count: formats.count(listed.length - shown.length) })}
            </p>
          )}
          {pricing !== null &&
            // Not in the form of the channel.
            createPortal(
              <AddModel
                id={pricing}
                onAdded={(name, { price = null }) => {
                  const { input = null, output = null } = (price ?? {}) as Partial<FoundModel>;
                  const change = { model: name, priced: price !== null, input, output };
                  setFound({
                    ...found,
                    models: found.models.map((model) =>
                      model.name === name ? { ...model, ...change } : model,
                    ),
                  });
                  if (!serves(name)) tick(name, true);
                  setPricing(null);
                  void client.invalidateQueries({ queryKey: channelFormQuery.queryKey });
                }}
                onClose={() => setPricing(null)}
              />,
              document.body,
            )}
        </>
      )}
    </div>
  );
}

function NoPriceYet({ of, onGive }: { readonly of: FoundModel; readonly onGive: () => void }) {
  const say = useWords();
  const mayGive = useSession().permissions.includes('models.write');
  return (
    <>
      <span className="outcome warned">
        <Icon name="warning" size={12} />
        {say(of.model === null ? 'channels.found.unknown' : 'channels.found.noPrice')}
      </span>{' '}
      {of.model === null && mayGive && (
        <button
          type="button"
          className="link"
          aria-label={say('channels.found.giveNamed', { name: of.name })}
          onClick={onGive}
        >
          {say('channels.found.give')}
        </button>
      )}
      {of.model !== null && (
        <Link className="link" to="/models/$id" params={{ id: of.model }}>
          {say('channels.found.give')}
        </Link>
      )}
    </>
  );
}
