import type { Query } from '../../api/client.ts';
import { Icon } from '../../pieces/icon.tsx';
import { useWords } from '../../words/index.ts';
import { exportAddress } from './export.ts';

/** All requests of a filter as a file; the browser stores it, and nothing of it passes through the page. */
export function ExportLink({ query }: { readonly query: Omit<Query<'exportUsage'>, 'format'> }) {
  const say = useWords();
  return (
    <a className="button" href={exportAddress(query)} download>
      <Icon name="down" />
      CSV<span className="hidden"> {say('data.export')}</span>
    </a>
  );
}
