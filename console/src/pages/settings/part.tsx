import type { ReactNode } from 'react';
import styles from './page.module.css';

interface Props {
  readonly title: string;
  readonly hint: string;
  readonly children: ReactNode;
}

/** A part of a tab: what it is about, and beside it what is set. */
export function Part({ title, hint, children }: Props) {
  return (
    <section className={styles['part']}>
      <div>
        <h2 className="title">{title}</h2>
        <p className="hint">{hint}</p>
      </div>
      <div className={styles['content']}>{children}</div>
    </section>
  );
}
