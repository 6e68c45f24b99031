import { createElement, type ReactElement, type ReactNode } from 'react';

/** The words over a column, with its classes if it has any; an element is a whole `th`; false: no such column here. */
export type Head = string | readonly [words: string, className: string] | ReactElement | false;

interface Props {
  /** What the table lists. A screen reader names the part that scrolls by it. */
  readonly label: string;
  readonly heads: readonly Head[];
  /** Beside `table`. */
  readonly className?: string | undefined;
  /** The rows. */
  readonly children: ReactNode;
}

/** A table of its own width, in a part of the page that scrolls and that the keyboard reaches. */
export function Table({ label, heads, className, children }: Props) {
  return (
    <div className="scroll" tabIndex={0} role="region" aria-label={label}>
      <table className={className === undefined ? 'table' : `table ${className}`}>
        <thead>
          {/* Columns are known by their place. */}
          {createElement('tr', null, ...heads.map(headCell))}
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}

function headCell(head: Head): ReactNode {
  if (head === false || !(typeof head === 'string' || Array.isArray(head))) return head;
  const [words, className] = typeof head === 'string' ? [head] : head;
  return (
    <th scope="col" className={className}>
      {words}
    </th>
  );
}
