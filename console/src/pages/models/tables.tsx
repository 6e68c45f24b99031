import { Link } from '@tanstack/react-router';
import { shortMoney } from '../../format/money.ts';
import { useFormats } from '../../format/numbers.ts';
import { partName } from '../../format/parts.ts';
import { Icon } from '../../pieces/icon.tsx';
import { SortHead } from '../../pieces/sort-head.tsx';
import { Table } from '../../pieces/table.tsx';
import { useWords } from '../../words/index.ts';
import styles from './page.module.css';
import { priceOf, type Model } from './query.ts';
import type { Column, Order } from './search.ts';
import { Hours, Success } from './success.tsx';

interface Props {
  readonly models: readonly Model[];
}

/** Places of a column of rates, so that they stand on the point. */
const places = 3;

interface ChatProps extends Props {
  readonly order: Order | undefined;
  readonly onOrder: (column: Column) => void;
}

export function ChatTable({ models, order, onOrder }: ChatProps) {
  const say = useWords();
  const formats = useFormats();
  const head = (column: Column, className?: string) => (
    <SortHead
      column={column}
      label={say(`models.columns.${column}`)}
      className={className}
      order={order}
      onOrder={onOrder}
    />
  );
  return (
    <section className={styles['section']}>
      <h2 className="title">
        {say('models.kinds.chat')} <span className="quiet">{say('models.perMillion')}</span>
      </h2>
      <Table
        label={say('models.chat')}
        heads={[
          head('model'),
          [say('models.columns.protocols'), 'least'],
          head('window', 'number less'),
          head('input', 'number'),
          head('cached', 'number less'),
          head('output', 'number'),
          head('success', styles['after']),
          [say('models.columns.hours'), 'less'],
          head('firstToken', 'number less'),
          head('speed', 'number less'),
          [say('models.columns.origin'), `least ${styles['after']}`],
        ]}
      >
        {models.map((model) => {
          const { recent } = model;
          return (
            <tr key={model.id}>
              <NameCell model={model} />
              <td className="second least" title={model.protocols.join(', ')}>
                <span className="cut">{model.protocols.join(', ')}</span>
              </td>
              <td className="number less">
                {model.context_window !== null && formats.short(model.context_window)}
              </td>
              {model.priced ? (
                <>
                  <RateCell rate={priceOf(model, 'input')} />
                  <RateCell rate={priceOf(model, 'cache_read')} absent="models.asInput" isLess />
                  <RateCell rate={priceOf(model, 'output')} />
                </>
              ) : (
                <>
                  <td colSpan={2} className="number">
                    <NoPrice isShort />
                  </td>
                  <td className="less" />
                </>
              )}
              <td className={styles['after']}>
                {recent !== null && <Success share={recent.success} />}
              </td>
              <td className="less">{recent !== null && <Hours hours={recent.hours} />}</td>
              <td className="number less">
                {recent?.first_token_ms != null && formats.duration(recent.first_token_ms)}
              </td>
              <td className="number less">
                {recent?.tokens_per_second != null &&
                  formats.count(Math.round(recent.tokens_per_second))}
              </td>
              <td className={`quiet least ${styles['after']}`}>
                {say(`models.origins.${model.origin}`)}
              </td>
            </tr>
          );
        })}
      </Table>
    </section>
  );
}

export function OtherTable({ models }: Props) {
  const say = useWords();
  const formats = useFormats();
  return (
    <section className={styles['section']}>
      <h2 className="title">{say('models.other')}</h2>
      <Table
        label={say('models.other')}
        heads={[
          say('models.columns.model'),
          [say('models.columns.type'), 'less'],
          [say('models.columns.protocols'), 'least'],
          say('models.columns.price'),
          say('models.columns.success'),
          [say('models.columns.hours'), 'less'],
          [say('models.columns.duration'), 'number less'],
          [say('models.columns.origin'), `least ${styles['after']}`],
        ]}
      >
        {models.map((model) => {
          const { recent, prices } = model;
          const [first] = prices;
          return (
            <tr key={model.id}>
              <NameCell model={model} />
              <td className="less">{say(`models.kinds.${model.type}`)}</td>
              <td className="second least" title={model.protocols.join(', ')}>
                <span className="cut">{model.protocols.join(', ')}</span>
              </td>
              <td className={styles['price']}>
                {!model.priced || first === undefined ? (
                  <NoPrice />
                ) : (
                  <>
                    {partName(first.part, say, formats.count)} {first.price}{' '}
                    <span className="quiet">{say(`models.units.${first.unit}`)}</span>
                    {prices.length > 1 && (
                      <span className="quiet">
                        {say('models.morePrices', { count: prices.length - 1 })}
                      </span>
                    )}
                  </>
                )}
              </td>
              <td>{recent !== null && <Success share={recent.success} />}</td>
              <td className="less">{recent !== null && <Hours hours={recent.hours} />}</td>
              <td className="number less">
                {recent?.duration_ms != null && formats.duration(recent.duration_ms)}
              </td>
              <td className={`quiet least ${styles['after']}`}>
                {say(`models.origins.${model.origin}`)}
              </td>
            </tr>
          );
        })}
      </Table>
    </section>
  );
}

function NameCell({ model: { id, aliases } }: { readonly model: Model }) {
  const say = useWords();
  return (
    <td title={[id, ...aliases].join(', ')}>
      <span className="line">
        <Link className="link strong cut" to="/models/$id" params={{ id }}>
          {id}
        </Link>
        {aliases.length > 0 && (
          <span className="quiet cut">{say('models.also', { names: aliases.join(', ') })}</span>
        )}
      </span>
    </td>
  );
}

export function NoPrice({ isShort = false }: { readonly isShort?: boolean }) {
  const say = useWords();
  return (
    <span className="outcome warned" title={say('models.noPrice')}>
      <Icon name="warning" size={12} />
      {say(isShort ? 'models.noPriceShort' : 'models.noPrice')}
    </span>
  );
}

function RateCell({
  rate,
  absent,
  isLess = false,
}: {
  readonly rate: string | null;
  readonly absent?: 'models.asInput';
  readonly isLess?: boolean;
}) {
  const say = useWords();
  const className = isLess ? 'number less' : 'number';
  if (rate === null) {
    return <td className={`${className} quiet`}>{absent === undefined ? '–' : say(absent)}</td>;
  }
  const { quiet, ink, padding } = shortMoney(rate, places);
  return (
    <td className={className} title={rate}>
      {quiet + ink}
      <span className="ghost" aria-hidden="true">
        {padding}
      </span>
    </td>
  );
}
