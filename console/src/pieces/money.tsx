import { exactMoney, shortMoney } from '../format/money.ts';

interface Props {
  /** Decimal text in USD. */
  readonly amount: string;
  /** Places that the column reserves, so that amounts stand on the decimal point. */
  readonly width?: number;
  readonly isExact?: boolean;
}

/** An amount whose leading zeros are quiet. Its exact value is shown on hover. */
export function Money({ amount, width = 0, isExact = false }: Props) {
  const { sign, quiet, ink, padding } = (isExact ? exactMoney : shortMoney)(amount, width);
  return (
    <span className="money" title={`${amount} USD`}>
      {sign}
      <span className="quiet">{quiet}</span>
      {ink}
      {padding !== '' && (
        <span className="ghost" aria-hidden="true">
          {padding}
        </span>
      )}
    </span>
  );
}
