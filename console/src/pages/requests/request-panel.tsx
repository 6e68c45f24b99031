import { Link } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { Icon } from '../../pieces/icon.tsx';
import { useWords } from '../../words/index.ts';
import { RequestView } from './request-view.tsx';
import styles from './request.module.css';

interface Props {
  readonly id: string;
  readonly onClose: () => void;
  readonly onStep: (by: 1 | -1) => void;
}

/** One request beside the list. */
export function RequestPanel({ id, onClose, onStep }: Props) {
  const say = useWords();
  const panel = useRef<HTMLElement>(null);
  useEffect(() => panel.current?.focus({ preventScroll: true }), []);
  return (
    <aside className={styles['panel']} aria-label={say('request.title')} ref={panel} tabIndex={-1}>
      <header className={styles['bar']}>
        <h2 className="title">{say('request.title')}</h2>
        <button
          type="button"
          className="button bare"
          onClick={() => onStep(-1)}
          title={`${say('request.previous')} (k)`}
          aria-label={say('request.previous')}
        >
          <Icon name="up" />
        </button>
        <button
          type="button"
          className="button bare"
          onClick={() => onStep(1)}
          title={`${say('request.next')} (j)`}
          aria-label={say('request.next')}
        >
          <Icon name="down" />
        </button>
        <Link className="button bare" to="/requests/$id" params={{ id }} aria-label={id} title={id}>
          <Icon name="page" />
        </Link>
        <button
          type="button"
          className="button bare"
          onClick={onClose}
          title={`${say('request.close')} (esc)`}
          aria-label={say('request.close')}
        >
          <Icon name="close" />
        </button>
      </header>
      <RequestView id={id} />
    </aside>
  );
}
