import { Link } from '@tanstack/react-router';
import { shortMoney } from '../../format/money.ts';
import { useFormats } from '../../format/numbers.ts';
import { partName } from '../../format/parts.ts';
import { Icon } from '../../pieces/icon.tsx';
import { SortHead } from '../../pieces/sort-head.tsx';
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
      <div className="scroll" tabIndex={0} role="region" aria-label={say('models.chat')}>
        <table className="table">
          <thead>
            <tr>
              {head('model')}
              <th scope="col" className="less">
                {say('models.columns.protocols')}
              </th>
              {head('window', 'number less')}
              {head('input', 'number')}
              {head('cached', 'number less')}
              {head('output', 'number')}
              {head('success', styles['after'])}
              <th scope="col" className="less">
                {say('models.columns.hours')}
              </th>
              {head('firstToken', 'number less')}
              {head('speed', 'number less')}
              <th scope="col" className={`less ${styles['after']}`}>
                {say('models.columns.origin')}
              </th>
            </tr>
          </thead>
          <tbody>
            {models.map((model) => {
              const { recent } = model;
              return (
                <tr key={model.id}>
                  <NameCell model={model} />
                  <td className="second less long" title={model.protocols.join(', ')}>
                    {model.protocols.join(', ')}
                  </td>
                  <td className="number less">
                    {model.context_window !== null && formats.short(model.context_window)}
                  </td>
                  {model.priced ? (
                    <>
                      <RateCell rate={priceOf(model, 'input')} />
                      <RateCell
                        rate={priceOf(model, 'cache_read')}
                        absent="models.asInput"
                        isLess
                      />
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
                      say('models.perSecond', {
                        count: formats.count(Math.round(recent.tokens_per_second)),
                      })}
                  </td>
                  <td className={`quiet less ${styles['after']}`}>
                    {say(`models.origins.${model.origin}`)}
                  </td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
    </section>
  );
}

export function OtherTable({ models }: Props) {
  const say = useWords();
  const formats = useFormats();
  return (
    <section className={styles['section']}>
      <h2 className="title">{say('models.other')}</h2>
      <div className="scroll" tabIndex={0} role="region" aria-label={say('models.other')}>
        <table className="table">
          <thead>
            <tr>
              <th scope="col">{say('models.columns.model')}</th>
              <th scope="col" className="less">
                {say('models.columns.type')}
              </th>
              <th scope="col" className="less">
                {say('models.columns.protocols')}
              </th>
              <th scope="col">{say('models.columns.price')}</th>
              <th scope="col">{say('models.columns.success')}</th>
              <th scope="col" className="less">
                {say('models.columns.hours')}
              </th>
              <th scope="col" className="number less">
                {say('models.columns.duration')}
              </th>
              <th scope="col" className={`less ${styles['after']}`}>
                {say('models.columns.origin')}
              </th>
            </tr>
          </thead>
          <tbody>
            {models.map((model) => {
              const { recent, prices } = model;
              const [first] = prices;
              return (
                <tr key={model.id}>
                  <NameCell model={model} />
                  <td className="less">{say(`models.kinds.${model.type}`)}</td>
                  <td className="second less long" title={model.protocols.join(', ')}>
                    {model.protocols.join(', ')}
                  </td>
                  <td>
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
                  <td className={`quiet less ${styles['after']}`}>
                    {say(`models.origins.${model.origin}`)}
                  </td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
    </section>
  );
}

function NameCell({ model: { id, aliases } }: { readonly model: Model }) {
  const say = useWords();
  return (
    <td className={styles['nameCell']} title={[id, ...aliases].join(', ')}>
      <Link className={`link strong ${styles['name']}`} to="/models/$id" params={{ id }}>
        {id}
      </Link>
      {aliases.length > 0 && (
        <span className="quiet"> {say('models.also', { names: aliases.join(', ') })}</span>
      )}
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
