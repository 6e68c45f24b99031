import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { ApiFailure, read, type Result } from '../../api/client.ts';
import { useSession } from '../../app/session.ts';
import { clientName } from '../../format/client.ts';
import { exact, plus, toText } from '../../format/exact.ts';
import { useFormats } from '../../format/numbers.ts';
import { receiptOf } from '../../format/receipt.ts';
import { CopyButton } from '../../pieces/copy-button.tsx';
import { Icon } from '../../pieces/icon.tsx';
import { Money } from '../../pieces/money.tsx';
import { NameLink } from '../../pieces/name-link.tsx';
import { resultText } from '../../pieces/result-text.ts';
import { Outcome } from '../../pieces/outcome.tsx';
import { ErrorState, Skeleton } from '../../pieces/states.tsx';
import { curlLike } from '../../snippets/curl.ts';
import { useLanguage, useWords, type TextName } from '../../words/index.ts';
import { filterWord } from './filter.ts';
import { explainLoss, explainRepair } from './explain-change.ts';
import { explainError, isRepeated } from './explain-error.ts';
import { asMarkdown } from './markdown.ts';
import { ReceiptTable } from './receipt-table.tsx';
import { reasonsOf } from './reasons.ts';
import styles from './request.module.css';
import { Timeline } from './timeline.tsx';

export type Detail = Result<'readUsage'>;

/** Everything that is known of a request: what it cost and why, when what happened, and who answered. */
export function RequestView({ id }: { readonly id: string }) {
  const say = useWords();
  const request = useQuery({
    queryKey: ['request', id],
    queryFn: ({ signal }) => read<'readUsage'>(`/usage/${encodeURIComponent(id)}`, {}, signal),
    // A row does not change.
    staleTime: Infinity,
  });
  if (request.data !== undefined) return <Known detail={request.data} />;
  if (request.isPending) return <Skeleton rows={8} />;
  const isGone = request.error instanceof ApiFailure && request.error.status === 404;
  if (isGone) return <p className="state">{say('request.gone')}</p>;
  return <ErrorState error={request.error} onRetry={() => void request.refetch()} />;
}

function Known({ detail }: { readonly detail: Detail }) {
  return (
    <>
      <Head detail={detail} />
      <Receipt detail={detail} />
      {detail.attempts.length > 0 && <Time detail={detail} />}
      <Route detail={detail} />
      <Changes detail={detail} />
    </>
  );
}

function Head({ detail }: { readonly detail: Detail }) {
  const say = useWords();
  const formats = useFormats();
  const { gateway } = useSession();
  const curl = curlLike(detail, gateway.url);
  const receipt = receiptOf(detail);
  const { cost, model, upstream_model: upstream } = detail;
  return (
    <section className={styles['part']}>
      <p className={styles['line']}>
        <Outcome outcome={detail.outcome} status={detail.status} isFull />
        <span className="second">{formats.fullTime(detail.time)}</span>
        <code className={styles['id']}>{detail.id}</code>
      </p>
      <div className={styles['head']}>
        <div>
          <p className="hint">{say('request.cost')}</p>
          <p className={styles['price']}>
            {cost === null ? (
              <small>{say('request.free')}</small>
            ) : (
              <>
                <Money amount={cost} isExact /> <small>USD</small>
              </>
            )}
          </p>
        </div>
        <dl className={styles['facts']}>
          <dt>{say('request.askedBy')}</dt>
          <dd>
            {clientName(detail.client, say)}, {say('request.withKey')}{' '}
            <Name kind="key" name={detail.key} />, <Name kind="user" name={detail.user} />
            {detail.team !== null && (
              <>
                , <Name kind="team" name={detail.team} />
              </>
            )}
          </dd>
          <dt>{say('request.model')}</dt>
          <dd>
            {detail.attempts.length === 0 ? model : <Name kind="model" name={model} />}
            {upstream !== null && upstream !== model && (
              <span className="second"> → {upstream}</span>
            )}
          </dd>
          <dt>{say('request.protocol')}</dt>
          <dd>
            {detail.protocol}
            {detail.stream && `, ${say('request.streamed')}`}
          </dd>
          {detail.error !== null && (
            <>
              <dt>{say('request.errorName')}</dt>
              <dd>
                <code>{detail.error}</code>
              </dd>
            </>
          )}
          {detail.message !== null && (
            <>
              <dt>{say('request.message')}</dt>
              <dd>
                <code>{detail.message}</code>
              </dd>
            </>
          )}
        </dl>
      </div>
      <p className={styles['reason']}>{reasonsOf(detail, receipt, say, formats).join(' ')}</p>
      {detail.error !== null && <ErrorWords name={detail.error} detail={detail} />}
      <div className={styles['copy']}>
        <CopyButton
          text={asMarkdown(detail, receipt, say, formats)}
          word={say('request.copyMarkdown')}
        />
        {curl !== null && <CopyButton text={curl} word={say('lists.copyCurl')} />}
      </div>
    </section>
  );
}

/** A name that opens the page of what it names. */
function Name({ kind, name }: { readonly kind: string; readonly name: string }) {
  return (
    <NameLink kind={kind} name={name}>
      {name}
    </NameLink>
  );
}

function Receipt({ detail }: { readonly detail: Detail }) {
  const say = useWords();
  const receipt = receiptOf(detail);
  const { held, overshoot, cost } = detail;
  if (receipt === null || cost === null) return null;
  const isBooked = detail.transaction !== null;
  return (
    <section className={styles['part']}>
      <h3 className="title">{say('request.receipt')}</h3>
      <ReceiptTable detail={detail} receipt={receipt} />
      <dl className={`${styles['facts']} ${styles['two']}`}>
        <dt>{say('request.payer')}</dt>
        <dd>{detail.payer === 'team' ? detail.team : detail.user}</dd>
        <dt>{say('request.held')}</dt>
        <dd>{held === null ? say('request.none') : heldText(held, cost)}</dd>
        <dt>{say('request.transaction')}</dt>
        <dd>{isBooked ? <code>{detail.transaction}</code> : say('request.notBooked')}</dd>
        <dt>{say('request.overshoot')}</dt>
        <dd>{overshoot === null || Number(overshoot) === 0 ? say('request.none') : overshoot}</dd>
        {detail.late !== undefined && (
          <>
            <dt>{say('request.late')}</dt>
            <dd>{say('request.lateMeans', { amount: detail.late })}</dd>
          </>
        )}
        <dt>{say('request.version')}</dt>
        <dd>
          {detail.price_version === null
            ? say('request.none')
            : say('request.versionNamed', { id: detail.price_version })}
        </dd>
        <dt>{say('request.usage')}</dt>
        <dd>{say(`request.sources.${detail.usage_source}` as TextName)}</dd>
        {detail.usage_unread.length > 0 && (
          <>
            <dt>{say('request.unread')}</dt>
            <dd>
              <code>{detail.usage_unread.join(' ')}</code> {say('request.unreadMeans')}
            </dd>
          </>
        )}
      </dl>
    </section>
  );

  function heldText(amount: string, charged: string): string {
    const back = plus(exact(amount), exact(`-${charged}`));
    if (back.digits <= 0n) return amount;
    return say('request.heldBack', { held: amount, back: toText(back, 2) });
  }
}

function Time({ detail }: { readonly detail: Detail }) {
  const say = useWords();
  const formats = useFormats();
  const total = formats.duration(detail.duration_ms);
  return (
    <section className={styles['part']}>
      <h3 className="title">
        {say('request.time')}{' '}
        <small className="quiet">
          {detail.ttft_ms === null
            ? say('request.timeTotal', { total })
            : say('request.timeSummary', { first: formats.duration(detail.ttft_ms), total })}
        </small>
      </h3>
      <Timeline detail={detail} />
    </section>
  );
}

/** What the error means, what to do, and what the client does. */
function ErrorWords({ name, detail }: { readonly name: string; readonly detail: Detail }) {
  const say = useWords();
  const language = useLanguage();
  const words = explainError(name, language);
  if (words === null) return null;
  return (
    <p className={styles['reason']}>
      {words} {say(isRepeated(name) ? 'request.clientRepeats' : 'request.clientStops')}
      <WayOn of={detail} />
    </p>
  );
}

/** Where a limit that was reached is seen, and raised. */
function WayOn({ of: { error, key, team } }: { readonly of: Detail }) {
  const say = useWords();
  if (error === 'key_quota_exceeded' || error === 'rate_limited' || error === 'model_not_allowed') {
    return (
      <>
        {' '}
        <Link className="link" to="/keys" search={{ q: key }}>
          {say('request.toKey', { name: key })}
        </Link>
      </>
    );
  }
  if (team === null || !/^(?:team|member)_.*budget_exceeded$/.test(error ?? '')) return null;
  return (
    <>
      {' '}
      <Link
        className="link"
        to="/usage"
        search={{ range: '30d', group: 'user', filter: filterWord('team', team) }}
      >
        {say('request.toTeam', { name: team })}
      </Link>
    </>
  );
}

/** How much of an attempt the client has seen. */
function reachText(reached: string, result: string): TextName {
  const isCut = reached === 'shown' && result !== 'completed';
  return `request.classes.${isCut ? 'begun' : reached}` as TextName;
}

function Route({ detail: { attempts, route } }: { readonly detail: Detail }) {
  const say = useWords();
  return (
    <section className={styles['part']}>
      <h3 className="title">
        {say('request.route')}{' '}
        {attempts.length > 0 && (
          <small className="quiet">{say('request.attempts', { count: attempts.length })}</small>
        )}
      </h3>
      {attempts.length === 0 ? (
        <p className="second">{say('request.noAttempt')}</p>
      ) : (
        <ol className={styles['route']}>
          {attempts.map(
            ({ channel, class: reached, status, result, words, upstream_request_id: id }, at) => (
              <li key={`${at} ${channel}`}>
                <span className="quiet">{at + 1}</span>
                <span>
                  <Name kind="channel" name={channel} />
                </span>
                <span className={result === 'completed' ? 'outcome fine' : 'outcome failed'}>
                  <Icon name={result === 'completed' ? 'tick' : 'cross'} size={12} />
                  {status ?? ''} {resultText(result, say)}
                </span>
                <span className="second">
                  {say(reachText(reached, result))}
                  {words !== null && (
                    <>
                      {' '}
                      <code className={styles['said']}>{words}</code>
                    </>
                  )}
                  {id !== null && (
                    <>
                      {' '}
                      <code className="quiet">{say('request.upstreamId', { id })}</code>
                    </>
                  )}
                </span>
              </li>
            ),
          )}
        </ol>
      )}
      {route.length > 0 && (
        <ul className={styles['passed']}>
          {route.map(({ channel, reason }) => (
            <li key={channel}>
              <span className="quiet">–</span>
              <span className="second">
                <Name kind="channel" name={channel} />
              </span>
              <span className="second">{say(`request.passed.${reason}`)}</span>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

function Changes({ detail: { rewrites, losses } }: { readonly detail: Detail }) {
  const say = useWords();
  const language = useLanguage();
  return (
    <section className={styles['part']}>
      <h3 className="title">{say('request.changed')}</h3>
      <dl className={styles['facts']}>
        <dt>{say('request.rewrites')}</dt>
        <dd>
          <Explained
            all={rewrites.map((name) => ({ name, words: explainRepair(name, language) }))}
          />
        </dd>
        <dt>{say('request.losses')}</dt>
        <dd>
          <Explained
            all={losses.map((loss) => ({ name: loss.name, words: explainLoss(loss, language) }))}
          />
        </dd>
        <dt>{say('request.content')}</dt>
        <dd className="second">{say('request.contentNote')}</dd>
      </dl>
    </section>
  );
}

/** Names with what they mean, one a line. */
function Explained({
  all,
}: {
  readonly all: readonly { readonly name: string; readonly words: string | null }[];
}) {
  const say = useWords();
  if (all.length === 0) return say('request.nothing');
  return (
    <ul className={styles['explained']}>
      {all.map(({ name, words }) => (
        <li key={`${name} ${words}`}>
          <code>{name}</code> {words !== null && <span className="second">{words}</span>}
        </li>
      ))}
    </ul>
  );
}
