import { useId } from 'react';
import type { FieldProblem } from '../../api/client.ts';
import { partName } from '../../format/parts.ts';
import { Icon } from '../../pieces/icon.tsx';
import { en } from '../../words/en.ts';
import { useWords, type Say, type TextName } from '../../words/index.ts';
import styles from './page.module.css';
import {
  cellPath,
  partsFor,
  pathOf,
  type ModelType,
  type PriceDraft,
  type PricePart,
  type Row,
} from './price-draft.ts';

interface Props {
  /** What the file describes. */
  readonly parts: readonly PricePart[];
  readonly type: ModelType;
  readonly draft: PriceDraft;
  readonly problems: readonly FieldProblem[];
  readonly onChange: (draft: PriceDraft) => void;
}

type Column = PricePart['columns'][number];

const none: Row = { name: '', values: {} };

/** Every part of a price that models of the type can have, as fields. */
export function PriceFields({ parts, type, draft, problems, onChange }: Props) {
  const say = useWords();
  const shown = partsFor(parts, type, draft);
  const single = shown.filter(({ rows }) => rows === 'value');
  const units = [...new Set(single.map(({ columns }) => columns[0]?.form ?? 'text'))];
  const put = (name: string, rows: readonly Row[]) => onChange({ ...draft, [name]: rows });
  const problemOf = (path: string) => problems.find((each) => each.path === path)?.message;
  const cell = (part: PricePart) => (
    <Cell
      key={part.name}
      label={partLabel(part.name, say)}
      value={draft[part.name]?.[0]?.values[''] ?? ''}
      problem={problemOf(`price.${part.name}`)}
      isNumber
      onChange={(text) => put(part.name, [{ name: '', values: { '': text } }])}
    />
  );
  const isUsed = ({ name }: PricePart) =>
    (draft[name]?.[0]?.values[''] ?? '') !== '' || problemOf(`price.${name}`) !== undefined;
  return (
    <>
      {units.map((unit) => {
        const ofUnit = single.filter(({ columns }) => columns[0]?.form === unit);
        const rare = ofUnit.filter(({ columns }) => columns[0]?.rare);
        return (
          <fieldset className="field" key={unit}>
            <legend>{unitText(unit, say)}</legend>
            <div className={styles['grid']}>
              {ofUnit.filter((part) => !rare.includes(part)).map(cell)}
            </div>
            {rare.length > 0 && (
              <details className={styles['rare']} open={rare.some(isUsed) || undefined}>
                <summary>{say('models.form.rare')}</summary>
                <div className={styles['grid']}>{rare.map(cell)}</div>
              </details>
            )}
            {unit === 'million_tokens' && <p className="hint">{say('models.form.empty')}</p>}
          </fieldset>
        );
      })}
      {shown
        .filter(({ rows }) => rows !== 'value')
        .map((part) => (
          <Rows
            key={part.name}
            part={part}
            draft={draft}
            problemOf={problemOf}
            onChange={(rows) => put(part.name, rows)}
          />
        ))}
      <p className="problem">{problemOf('price')}</p>
    </>
  );
}

interface RowsProps {
  readonly part: PricePart;
  readonly draft: PriceDraft;
  readonly problemOf: (path: string) => string | undefined;
  readonly onChange: (rows: readonly Row[]) => void;
}

/** The rows of a part: each a line of fields that can be taken out. */
function Rows({ part, draft, problemOf, onChange }: RowsProps) {
  const say = useWords();
  const rows = draft[part.name] ?? [];
  const title = rowsTitle(part.name, say);
  const problem = problemOf(`price.${part.name}`);
  const units = new Set(
    part.columns.map(({ form }) => form).filter((form) => form !== 'count' && form !== 'text'),
  );
  const isShown = (column: Column, row: Row) =>
    !column.rare || (row.values[column.name] ?? draft[column.name]?.[0]?.values[''] ?? '') !== '';
  const change = (at: number, next: Partial<Row>) =>
    onChange(rows.map((row, other) => (other === at ? { ...row, ...next } : row)));
  return (
    <fieldset className="field">
      <legend>
        {title}{' '}
        <span className="quiet">{[...units].map((unit) => unitText(unit, say)).join(', ')}</span>
      </legend>
      {rows.map((row, at) => {
        const path = pathOf(part, draft, at);
        const own = part.columns[0]?.name === '' ? undefined : problemOf(path);
        return (
          // Rows have no names of their own before they are typed.
          <div className={styles['row']} key={at} role="group" aria-label={`${title} ${at + 1}`}>
            {part.rows === 'names' && (
              <Cell
                label={nameLabel(part.name, say)}
                value={row.name}
                choices={part.names}
                problem={own}
                onChange={(name) => change(at, { name })}
              />
            )}
            {part.columns
              .filter((column) => isShown(column, row))
              .map((column) => (
                <Cell
                  key={column.name}
                  label={columnLabel(column, say)}
                  value={row.values[column.name] ?? ''}
                  problem={problemOf(cellPath(path, column.name))}
                  isNumber={column.form !== 'text'}
                  onChange={(text) =>
                    change(at, { values: { ...row.values, [column.name]: text } })
                  }
                />
              ))}
            <button
              type="button"
              className="button bare"
              aria-label={say('models.form.removeRow', { name: `${title} ${at + 1}` })}
              onClick={() => onChange(rows.filter((_, other) => other !== at))}
            >
              <Icon name="close" />
            </button>
            {part.rows === 'list' && own !== undefined && <p className="problem">{own}</p>}
          </div>
        );
      })}
      <div>
        <button type="button" className="link" onClick={() => onChange([...rows, none])}>
          {say('models.form.addRow', { name: title })}
        </button>
      </div>
      {problem !== undefined && <p className="problem">{problem}</p>}
    </fieldset>
  );
}

interface CellProps {
  readonly label: string;
  readonly value: string;
  readonly problem: string | undefined;
  /** What it is one of; null: it is free. */
  readonly choices?: readonly string[] | null;
  readonly isNumber?: boolean;
  readonly onChange: (text: string) => void;
}

function Cell({ label, value, problem, choices = null, isNumber = false, onChange }: CellProps) {
  const id = useId();
  const about = {
    id,
    className: 'input',
    value,
    'aria-invalid': problem !== undefined,
    'aria-describedby': problem === undefined ? undefined : `${id}-note`,
  };
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {choices === null ? (
        <input
          {...about}
          inputMode={isNumber ? 'decimal' : undefined}
          autoComplete="off"
          spellCheck={false}
          onChange={({ target }) => onChange(target.value)}
        />
      ) : (
        <select {...about} onChange={({ target }) => onChange(target.value)}>
          {['', ...choices].map((each) => (
            <option key={each} value={each}>
              {each.replaceAll('_', ' ')}
            </option>
          ))}
        </select>
      )}
      {problem !== undefined && (
        <p className="problem" id={`${id}-note`}>
          {problem}
        </p>
      )}
    </div>
  );
}

/** A part as lists of prices call it; its name in the file, if it has no words yet. */
export function partLabel(name: string, say: Say): string {
  return partName(name, say, String);
}

/** What the rows of a part are called. */
const rowsTitle = (part: string, say: Say): string =>
  Object.hasOwn(en.models.priceRows, part)
    ? say(`models.priceRows.${part}` as TextName)
    : partLabel(part, say);

/** Words for the columns that are no parts themselves. */
function columnLabel({ name, form }: Column, say: Say): string {
  if (name === '')
    return say(form === 'factor' ? 'models.form.factor' : 'models.priceColumns.price');
  return Object.hasOwn(en.models.priceColumns, name)
    ? say(`models.priceColumns.${name}` as TextName)
    : partLabel(name, say);
}

const nameLabel = (part: string, say: Say): string =>
  Object.hasOwn(en.models.priceNames, part)
    ? say(`models.priceNames.${part}` as TextName)
    : say('models.form.id');

function unitText(unit: Column['form'], say: Say): string {
  if (unit === 'count' || unit === 'text') return '';
  if (unit === 'factor') return say('models.form.factor');
  return say('models.form.priceIn', { unit: say(`models.units.${unit}`) });
}
