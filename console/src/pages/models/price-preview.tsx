import { useState } from 'react';
import type { Result } from '../../api/client.ts';
import { useFormats } from '../../format/numbers.ts';
import { Money } from '../../pieces/money.tsx';
import { Table } from '../../pieces/table.tsx';
import type { Write } from '../../pieces/use-write.ts';
import { useWords } from '../../words/index.ts';
import styles from './page.module.css';

const day = 86_400_000;

type Preview = Result<'previewPrice'>;

const spans = [7, 30, 90] as const;

interface Props {
  /** Of the form whose change is looked at: a refusal stands at its fields. */
  readonly sending: Write;
  /** @throws ApiFailure */
  readonly ask: (days: number) => Promise<Preview>;
}

/** What a change would have made of the requests of the last days, for whoever asks. */
export function PricePreview({ sending, ask }: Props) {
  const say = useWords();
  const [days, setDays] = useState<number>(30);
  const [preview, setPreview] = useState<Preview | null>(null);
  const look = (span: number) => {
    setDays(span);
    sending.run(async () => setPreview(await ask(span)));
  };
  return (
    <>
      <div className={styles['look']}>
        <button
          type="button"
          className="button"
          disabled={sending.isBusy}
          onClick={() => look(days)}
        >
          {say('models.preview.look')}
        </button>
        <div className={styles['kinds']} role="group" aria-label={say('models.preview.span')}>
          {spans.map((span) => (
            <button
              key={span}
              type="button"
              className="button"
              aria-pressed={span === days}
              disabled={sending.isBusy}
              onClick={() => look(span)}
            >
              {say('models.preview.days', { days: span })}
            </button>
          ))}
        </div>
      </div>
      {preview !== null && <Made preview={preview} />}
    </>
  );
}

/** What it would have made, and whose. */
function Made({ preview }: { readonly preview: Preview }) {
  const say = useWords();
  const formats = useFormats();
  const { from, to, requests, inexact, cost, would_be: wouldBe, payers } = preview;
  const days = formats.count(Math.round((Date.parse(to) - Date.parse(from)) / day));
  if (requests === 0) return <p role="status">{say('models.preview.none', { days })}</p>;
  const change = formats.change(Number(wouldBe), Number(cost));
  return (
    <div role="status">
      <p className="strong">
        {say('models.preview.sum', {
          before: formats.amount(Number(cost)),
          after: formats.amount(Number(wouldBe)),
          days,
          change,
        })}
      </p>
      {inexact > 0 && (
        <p className="second">
          {say('models.preview.inexact', {
            count: formats.count(inexact),
            all: formats.count(requests),
          })}
        </p>
      )}
      <Table
        label={say('models.preview.payer')}
        heads={[
          say('models.preview.payer'),
          [say('models.preview.requests'), 'number'],
          [say('models.preview.before'), 'number'],
          [say('models.preview.after'), 'number'],
        ]}
      >
        {payers.map((payer) => (
          <tr key={`${payer.kind} ${payer.name}`}>
            <td>{payer.name}</td>
            <td className="number">{formats.count(payer.requests)}</td>
            <td className="number">
              <Money amount={payer.cost} />
            </td>
            <td className="number">
              <Money amount={payer.would_be} />
            </td>
          </tr>
        ))}
      </Table>
      {preview.more_payers > 0 && (
        <p className="quiet">
          {say('models.preview.more', { count: formats.count(preview.more_payers) })}
        </p>
      )}
    </div>
  );
}
