import { Link } from '@tanstack/react-router';
import { useFormats } from '../../format/numbers.ts';
import { Money } from '../../pieces/money.tsx';
import { inputOf } from '../../pieces/sums/sums.ts';
import { useWords } from '../../words/index.ts';
import type { Overview } from './page.tsx';

type Period = Overview['now'];

const successOf = ({ requests, failed, refused }: Period) =>
  requests === 0 ? null : 1 - (failed - refused) / requests;
const cachedOf = (period: Period) => {
  const input = inputOf(period);
  return input === 0 ? null : period.tokens.cache_read / input;
};

/** The figures of a range against the one before. Each opens the requests that it counts. */
export function Figures({ overview: { now, before } }: { readonly overview: Overview }) {
  const say = useWords();
  const formats = useFormats();
  const span = { from: now.from, to: now.to };
  const failed = now.failed - now.refused;
  const success = successOf(now);
  const [cached, cachedBefore] = [cachedOf(now), cachedOf(before)];
  const { first_token_ms: first } = now;
  const firstBefore = before.first_token_ms;
  const points = (share: number | null, earlier: number | null) =>
    share === null || earlier === null
      ? '–'
      : say('overview.points', { number: formats.signed((share - earlier) * 100) });
  return (
    <dl className="figures">
      <div>
        <dt>{say('overview.spend')}</dt>
        <dd>
          <Link to="/requests" search={span}>
            <Money amount={now.cost} /> <small>USD</small>
          </Link>
        </dd>
        <dd className="than">
          {before.requests === 0
            ? say('overview.nothingBefore')
            : say('overview.against', {
                change: formats.change(Number(now.cost), Number(before.cost)),
                before: formats.amount(Number(before.cost)),
              })}
        </dd>
      </div>
      <div>
        <dt>{say('overview.requests')}</dt>
        <dd>
          <Link to="/requests" search={span}>
            {formats.count(now.requests)}
          </Link>
        </dd>
        <dd className="than">
          {before.requests === 0
            ? say('overview.nothingBefore')
            : say('overview.against', {
                change: formats.change(now.requests, before.requests),
                before: formats.count(before.requests),
              })}
        </dd>
      </div>
      <div>
        <dt>{say('overview.success')}</dt>
        <dd>
          <Link to="/requests" search={{ ...span, filter: 'outcome:failed' }}>
            {success === null ? '–' : formats.share(success)} <small>%</small>
          </Link>
        </dd>
        <dd className="than">
          {before.requests > 0 && `${points(success, successOf(before))} · `}
          {say('data.failed', { number: formats.count(failed) })}
        </dd>
      </div>
      <div>
        <dt>{say('overview.firstToken')}</dt>
        <dd>
          {first === null ? (
            '–'
          ) : (
            <>
              {formats.duration(first.p50)} <small>·</small> {formats.duration(first.p95)}
            </>
          )}
        </dd>
        <dd className="than">
          {first !== null && firstBefore !== null
            ? say('overview.before', {
                before: `${formats.duration(firstBefore.p50)} · ${formats.duration(firstBefore.p95)}`,
              })
            : '–'}
        </dd>
      </div>
      <div>
        <dt>{say('overview.cached')}</dt>
        <dd>
          {cached === null ? '–' : formats.percent(cached)} <small>%</small>
        </dd>
        <dd className="than">{points(cached, cachedBefore)}</dd>
      </div>
    </dl>
  );
}
