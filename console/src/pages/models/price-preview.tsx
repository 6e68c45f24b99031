import type { Result } from '../../api/client.ts';
import { useFormats } from '../../format/numbers.ts';
import { Money } from '../../pieces/money.tsx';
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
      <div className="scroll" tabIndex={0} role="region" aria-label={say('models.preview.payer')}>
        <table className="table">
          <thead>
            <tr>
              <th scope="col">{say('models.preview.payer')}</th>
              <th scope="col" className="number">
                {say('models.preview.requests')}
              </th>
              <th scope="col" className="number">
                {say('models.preview.before')}
              </th>
              <th scope="col" className="number">
                {say('models.preview.after')}
              </th>
            </tr>
          </thead>
          <tbody>
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
          </tbody>
        </table>
      </div>
      {preview.more_payers > 0 && (
        <p className="quiet">
          {say('models.preview.more', { count: formats.count(preview.more_payers) })}
        </p>
      )}
    </div>
  );
}
