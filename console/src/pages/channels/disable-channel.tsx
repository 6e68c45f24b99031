import { Dialog } from '../../pieces/dialog.tsx';
import { useFormats } from '../../format/numbers.ts';
import { useWords } from '../../words/index.ts';
import type { Channel } from './list.ts';
import styles from './page.module.css';

interface Props {
  readonly of: Channel;
  readonly onDisable: () => void;
  readonly onClose: () => void;
}

/** Asks once, with what a disabled channel would stop. */
export function DisableChannel({ of: { name, alone, recent }, onDisable, onClose }: Props) {
  const say = useWords();
  const formats = useFormats();
  const more = alone.count - alone.models.length;
  return (
    <Dialog title={say('channels.disableNamed', { name })} onClose={onClose}>
      <p>{say('channels.disableText', { attempts: formats.count(recent?.attempts ?? 0) })}</p>
      {alone.count === 0 ? (
        <p>{say('channels.disableNothing')}</p>
      ) : (
        <>
          <p className="strong">{say('channels.disableStops', { count: alone.count })}</p>
          <p className={styles['names']}>
            {alone.models.join(', ')}
            {more > 0 && ` ${say('channels.disableMore', { count: formats.count(more) })}`}
          </p>
        </>
      )}
      <p className="quiet">{say('channels.disableKeeps')}</p>
      <div className={styles['actions']}>
        <button type="button" className="button" onClick={onClose}>
          {say('channels.cancel')}
        </button>
        <button type="button" className="button main" onClick={onDisable}>
          {say('channels.disable')}
        </button>
      </div>
    </Dialog>
  );
}
