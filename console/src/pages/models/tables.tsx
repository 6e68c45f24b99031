import { Link } from '@tanstack/react-router';
import { shortMoney } from '../../format/money.ts';
import { useFormats } from '../../format/numbers.ts';
import { partName } from '../../format/parts.ts';
import { Icon } from '../../pieces/icon.tsx';
import { useWords } from '../../words/index.ts';
import styles from './page.module.css';
import { priceOf, type Model } from './query.ts';
import { Hours, Success } from './success.tsx';

interface Props {
  readonly models: readonly Model[];
}

/** Places of a column of rates, so that they stand on the point. */
const places = 3;

export function ChatTable({ models }: Props) {
  const say = useWords();
  const formats = useFormats();
  return (
    <section className={styles['section']}>
      <h2 className="title">
        {say('models.kinds.chat')} <span className="quiet">{say('models.perMillion')}</span>
      </h2>
      <div className={styles['scroll']} tabIndex={0} role="region" aria-label={say('models.chat')}>
        <table className="table">
          <thead>
            <tr>
              <th scope="col">{say('models.columns.model')}</th>
              <th scope="col">{say('models.columns.protocols')}</th>
              <th scope="col" className="number">
                {say('models.columns.window')}
              </th>
              <th scope="col" className="number">
                {say('models.columns.input')}
              </th>
              <th scope="col" className="number">
                {say('models.columns.cached')}
              </th>
              <th scope="col" className="number">
                {say('models.columns.output')}
              </th>
              <th scope="col" className={styles['after']}>
                {say('models.columns.success')}
              </th>
              <th scope="col">{say('models.columns.hours')}</th>
              <th scope="col" className="number">
                {say('models.columns.firstToken')}
              </th>
              <th scope="col" className="number">
                {say('models.columns.speed')}
              </th>
              <th scope="col" className={styles['after']}>
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
                  <td className="second">{model.protocols.join(', ')}</td>
                  <td className="number">
                    {model.context_window !== null && formats.short(model.context_window)}
                  </td>
                  {model.priced ? (
                    <>
                      <RateCell rate={priceOf(model, 'input')} />
                      <RateCell rate={priceOf(model, 'cache_read')} absent="models.asInput" />
                      <RateCell rate={priceOf(model, 'output')} />
                    </>
                  ) : (
                    <td colSpan={3} className="number">
                      <NoPrice />
                    </td>
                  )}
                  <td className={styles['after']}>
                    {recent !== null && <Success share={recent.success} />}
                  </td>
                  <td>{recent !== null && <Hours hours={recent.hours} />}</td>
                  <td className="number">
                    {recent?.first_token_ms != null && formats.duration(recent.first_token_ms)}
                  </td>
                  <td className="number">
                    {recent?.tokens_per_second != null &&
                      say('models.perSecond', {
                        count: formats.count(Math.round(recent.tokens_per_second)),
                      })}
                  </td>
                  <td className={`quiet ${styles['after']}`}>
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
      <div className={styles['scroll']} tabIndex={0} role="region" aria-label={say('models.other')}>
        <table className="table">
          <thead>
            <tr>
              <th scope="col">{say('models.columns.model')}</th>
              <th scope="col">{say('models.columns.type')}</th>
              <th scope="col">{say('models.columns.protocols')}</th>
              <th scope="col">{say('models.columns.price')}</th>
              <th scope="col">{say('models.columns.success')}</th>
              <th scope="col">{say('models.columns.hours')}</th>
              <th scope="col" className="number">
                {say('models.columns.duration')}
              </th>
              <th scope="col" className={styles['after']}>
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
                  <td>{say(`models.kinds.${model.type}`)}</td>
                  <td className="second">{model.protocols.join(', ')}</td>
                  <td>
                    {!model.priced || first === undefined ? (
                      <NoPrice />
                    ) : (
                      <>
                        {partName(first.part, say)} {first.price}{' '}
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
                  <td>{recent !== null && <Hours hours={recent.hours} />}</td>
                  <td className="number">
                    {recent?.duration_ms != null && formats.duration(recent.duration_ms)}
                  </td>
                  <td className={`quiet ${styles['after']}`}>
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
    <td>
      <Link className={`link strong ${styles['name']}`} to="/models/$id" params={{ id }}>
        {id}
      </Link>
      {aliases.length > 0 && (
        <span className="quiet"> {say('models.also', { names: aliases.join(', ') })}</span>
      )}
    </td>
  );
}

export function NoPrice() {
  const say = useWords();
  return (
    <span className="outcome warned">
      <Icon name="warning" size={12} />
      {say('models.noPrice')}
    </span>
  );
}

function RateCell({
  rate,
  absent,
}: {
  readonly rate: string | null;
  readonly absent?: 'models.asInput';
}) {
  const say = useWords();
  if (rate === null) {
    return <td className="number quiet">{absent === undefined ? '–' : say(absent)}</td>;
  }
  const { quiet, ink, padding } = shortMoney(rate, places);
  return (
    <td className="number" title={rate}>
      {quiet + ink}
      <span className="ghost" aria-hidden="true">
        {padding}
      </span>
    </td>
  );
}
