import { Link, useParams } from '@tanstack/react-router';
import { useWords } from '../../words/index.ts';
import { RequestView } from './request-view.tsx';
import styles from './request.module.css';

/** One request at an address of its own, to be sent to somebody. */
export function RequestPage() {
  const say = useWords();
  const { id } = useParams({ from: '/inside/requests/$id' });
  return (
    <>
      <header className="top">
        <h1>
          <Link className="quiet" to="/requests">
            {say('requests.title')}
          </Link>
          <span className="quiet"> / </span>
          {say('request.title')}
        </h1>
      </header>
      <div className={styles['page']}>
        <RequestView id={id} />
      </div>
    </>
  );
}
