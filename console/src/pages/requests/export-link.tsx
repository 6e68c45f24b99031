import { searchText, type Query } from '../../api/client.ts';
import { Icon } from '../../pieces/icon.tsx';
import { useWords } from '../../words/index.ts';

/** All requests of a filter as a file; the browser stores it, and nothing of it passes through the page. */
export function ExportLink({ query }: { readonly query: Omit<Query<'exportUsage'>, 'format'> }) {
  const say = useWords();
  const search = searchText({ ...query, format: 'csv' });
  return (
    <a className="button" href={`/admin/v1/usage/export?${search}`} download>
      <Icon name="down" />
      CSV<span className="hidden"> {say('data.export')}</span>
    </a>
  );
}
