import { useFormats } from '../../format/numbers.ts';
import { useWords } from '../../words/index.ts';
import styles from './page.module.css';
import type { Live } from './live-rows.ts';

interface Props {
  readonly live: Live;
  /** Rows that have come since it was paused. */
  readonly waiting: number;
  readonly isHeld: boolean;
  readonly onHold: () => void;
  readonly onFollow: () => void;
}

/** What is under way, and whether the list moves. */
export function LiveLine({ live, waiting, isHeld, onHold, onFollow }: Props) {
  const say = useWords();
  const formats = useFormats();
  const { rows, running, dropped, state, isWhole } = live;
  return (
    <div className={styles['live']}>
      <p className="second" aria-live="polite">
        {state === 'lost' ? (
          <span className="failed">{say('data.lost')}</span>
        ) : state === 'opening' ? (
          say('data.opening')
        ) : rows.length === 0 && running.length === 0 ? (
          say('data.liveEmpty')
        ) : (
          say('data.running', { number: formats.count(running.length) })
        )}
        {dropped > 0 && ` ${say('data.dropped', { number: formats.count(dropped) })}`}
      </p>
      <span className="quiet">{say(isWhole ? 'data.ofAll' : 'data.ofProcess')}</span>
      {isHeld ? (
        <button type="button" className="button" onClick={onFollow}>
          {waiting === 0
            ? say('data.follow')
            : say('data.waiting', { number: formats.count(waiting) })}
        </button>
      ) : (
        <button type="button" className="button" onClick={onHold}>
          {say('data.pause')}
        </button>
      )}
    </div>
  );
}
