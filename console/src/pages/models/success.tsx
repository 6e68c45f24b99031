import { useFormats } from '../../format/numbers.ts';
import { Icon } from '../../pieces/icon.tsx';
import { useWords } from '../../words/index.ts';
import styles from './page.module.css';
import type { Model } from './query.ts';

/** Shares below this deserve a look. */
const worrying = 0.99;

/** The share of requests that succeeded; a shape says whether it is worth a look. */
export function Success({ share }: { readonly share: number }) {
  const formats = useFormats();
  const isFine = share >= worrying;
  return (
    <span className={`outcome ${isFine ? 'fine' : 'warned'}`}>
      <Icon name={isFine ? 'tick' : 'warning'} size={12} />
      {formats.percent(share)} %
    </span>
  );
}

/** Every hour of a day as a bar: what failed hangs from its top. Nothing was asked where there is none. */
export function Hours({ hours }: { readonly hours: NonNullable<Model['recent']>['hours'] }) {
  const say = useWords();
  const worst = Math.min(...hours.map((share) => share ?? 1));
  const formats = useFormats();
  const height = 14;
  return (
    <svg
      className={styles['hours']}
      width={hours.length * 4}
      height={height}
      role="img"
      aria-label={say('models.hours', { worst: formats.percent(worst) })}
    >
      {hours.map((share, at) => {
        // A failure is never too thin to be seen.
        const failed = share === null || share === 1 ? 0 : Math.max(2, (1 - share) * height);
        return (
          <g key={at}>
            {share === null ? (
              <rect className={styles['none']} x={at * 4} y={height - 1} width={3} height={1} />
            ) : (
              <rect className={styles['fine']} x={at * 4} y={0} width={3} height={height} />
            )}
            {failed > 0 && (
              <rect className={styles['bad']} x={at * 4} y={0} width={3} height={failed} />
            )}
          </g>
        );
      })}
    </svg>
  );
}
