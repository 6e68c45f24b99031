import { Icon } from './icon.tsx';
import type { OrderBy } from './order.ts';

interface Props<Column extends string> {
  readonly column: Column;
  readonly label: string;
  readonly order: OrderBy<Column> | undefined;
  readonly className?: string | undefined;
  readonly onOrder: (column: Column) => void;
}

/** The head of a column by which the table can be ordered. */
export function SortHead<Column extends string>(props: Props<Column>) {
  const { column, label, order, className, onOrder } = props;
  const direction =
    order === column ? 'ascending' : order === `-${column}` ? 'descending' : undefined;
  return (
    <th scope="col" className={className} aria-sort={direction}>
      <button type="button" className="sort" onClick={() => onOrder(column)}>
        {label}
        {direction !== undefined && (
          <Icon name={direction === 'ascending' ? 'up' : 'down'} size={12} />
        )}
      </button>
    </th>
  );
}
