import { Icon } from './icon.tsx';

/** The lowest first, or with a sign the highest first. */
export type OrderBy<Column extends string> = Column | `-${Column}`;

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

/** What is asked for when the head of a column is pressed: what is read first, then the other way, then none. */
export function nextOrder<Column extends string>(
  column: Column,
  order: OrderBy<Column> | undefined,
  isHighFirst: boolean,
): OrderBy<Column> | undefined {
  const first = isHighFirst ? (`-${column}` as const) : column;
  const second = isHighFirst ? column : (`-${column}` as const);
  if (order === first) return second;
  return order === second ? undefined : first;
}
