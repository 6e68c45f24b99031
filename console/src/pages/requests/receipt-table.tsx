import { useFormats } from '../../format/numbers.ts';
import { partName, partOf } from '../../format/parts.ts';
import { exactMoney, placesOf } from '../../format/money.ts';
import type { Receipt } from '../../format/receipt.ts';
import { Money } from '../../pieces/money.tsx';
import { useWords } from '../../words/index.ts';
import styles from './request.module.css';
import type { Detail } from './request-view.tsx';

interface Props {
  readonly detail: Detail;
  readonly receipt: Receipt;
}

/** Quantity × rate of each line, their sum × the factor of the group, and the one rounding. */
export function ReceiptTable({ detail, receipt }: Props) {
  const say = useWords();
  const formats = useFormats();
  const amounts = receipt.lines.map(({ amount }) => amount);
  const width = placesOf([...amounts, receipt.sum, receipt.product, detail.cost], exactMoney);
  const { reasoning } = detail.tokens;
  const isMultiplied = Number(receipt.multiplier) !== 1;
  return (
    <div className="scroll" role="group" aria-label={say('request.receipt')} tabIndex={0}>
      <table className={styles['receipt']}>
        <thead>
          <tr>
            <th scope="col">{say('request.what')}</th>
            <th scope="col" className="number">
              {say('request.quantity')}
            </th>
            <th aria-hidden="true" />
            <th scope="col" className="number">
              {say('request.rate')}
            </th>
            <th aria-hidden="true" />
            <th scope="col" className="number">
              {say('request.amount')}
            </th>
            <th scope="col">{say('request.share')}</th>
          </tr>
        </thead>
        <tbody>
          {receipt.lines.map(({ part, quantity, unit, rate, amount, share }) => (
            <tr key={part}>
              <th scope="row">
                {partName(part, say, formats.count)}
                {partOf(part).name === 'output' && reasoning > 0 && (
                  <small className={styles['note']}>
                    {say('request.reasoning', { count: formats.count(reasoning) })}
                  </small>
                )}
              </th>
              <td className="number">
                {formats.count(quantity)}
                {unit === 'second' && <span className="quiet"> s</span>}
              </td>
              <td className={styles['sign']}>×</td>
              <td className="number">
                {rate}
                <span className={unit === 'token' ? 'quiet' : 'ghost'}>
                  {' '}
                  {say('request.perMillion')}
                </span>
              </td>
              <td className={styles['sign']}>=</td>
              <td className="number">
                <Money amount={amount} width={width} isExact />
              </td>
              <td className={styles['share']}>
                <meter className="meter" min={0} max={1} value={share} aria-hidden="true" />
                {formats.percent(share)} %
              </td>
            </tr>
          ))}
        </tbody>
        <tfoot>
          <tr className={styles['sum']}>
            <th scope="row" colSpan={4}>
              {say('request.sum')}
            </th>
            <td className={styles['sign']}>=</td>
            <td className="number">
              <Money amount={receipt.sum} width={width} isExact />
            </td>
            <td />
          </tr>
          {isMultiplied && (
            <tr>
              <th scope="row">{say('request.group', { name: detail.group })}</th>
              <td />
              <td className={styles['sign']}>×</td>
              <td className="number">
                {receipt.multiplier}
                <span className="ghost"> {say('request.perMillion')}</span>
              </td>
              <td className={styles['sign']}>=</td>
              <td className="number">
                <Money amount={receipt.product} width={width} isExact />
              </td>
              <td />
            </tr>
          )}
          <tr className={styles['total']}>
            <th scope="row" colSpan={4}>
              {say('request.charged')}{' '}
              <small className="quiet">
                {say(receipt.isCapped ? 'request.capped' : 'request.rounding')}
              </small>
            </th>
            <td className={styles['sign']}>=</td>
            <td className="number">
              <Money amount={detail.cost ?? '0'} width={width} isExact />
            </td>
            <td />
          </tr>
        </tfoot>
      </table>
    </div>
  );
}
