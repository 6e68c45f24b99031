import type { Result } from '../../api/client.ts';
import { useFormats } from '../../format/numbers.ts';
import { Money } from '../../pieces/money.tsx';
import { Table } from '../../pieces/table.tsx';
import { useWords } from '../../words/index.ts';

const day = 86_400_000;

/** What another price would have made of the requests of the last days, and whose. */
export function PricePreview({ preview }: { readonly preview: Result<'previewPrice'> }) {
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
