import { Link } from '@tanstack/react-router';
import { ApiFailure } from '../api/client.ts';
import { useWords } from '../words/index.ts';
import { Icon } from './icon.tsx';

/** What failed, where to look, and a way to try again. */
export function ErrorState({
  error,
  onRetry,
}: {
  readonly error: unknown;
  readonly onRetry?: () => void;
}) {
  const say = useWords();
  const failure = error instanceof ApiFailure ? error : null;
  if (failure?.status === 403) return <p className="state">{say('states.forbidden')}</p>;
  return (
    <div className="state" role="alert">
      <p className="failed stateTitle">
        <Icon name="warning" />
        {say('states.failed')}
      </p>
      <p>
        {failure?.code === 'not_found'
          ? say('states.missing')
          : (failure?.message ?? String(error))}
      </p>
      {failure !== null && failure.requestId !== null && (
        <p className="quiet">
          {say('states.request')} <code>{failure.requestId}</code>
        </p>
      )}
      {onRetry !== undefined && (
        <button type="button" className="button" onClick={onRetry}>
          {say('states.again')}
        </button>
      )}
    </div>
  );
}

export function NotFound() {
  const say = useWords();
  return (
    <div className="state">
      <p>{say('states.notFound')}</p>
      <Link className="link" to="/">
        {say('states.toOverview')}
      </Link>
    </div>
  );
}

/** Grey lines in the size of what will stand there. Shown only if it takes a moment. */
export function Skeleton({ rows }: { readonly rows: number }) {
  return (
    <div className="skeleton" aria-busy="true">
      {Array.from({ length: rows }, (_, at) => (
        <span key={at} style={{ width: `${92 - ((at * 37) % 40)}%` }} />
      ))}
    </div>
  );
}
