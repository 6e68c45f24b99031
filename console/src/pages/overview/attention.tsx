import { Link } from '@tanstack/react-router';
import { useFormats } from '../../format/numbers.ts';
import { Icon } from '../../pieces/icon.tsx';
import { resultText } from '../../pieces/result-text.ts';
import { useWords } from '../../words/index.ts';
import { filterWord } from '../requests/filter.ts';
import type { Overview } from './page.tsx';
import styles from './page.module.css';

type Item = Overview['attention'][number];

/** What somebody has to do something about, each with a way there. */
export function Attention({ attention }: Pick<Overview, 'attention'>) {
  const say = useWords();
  return (
    <section className={styles['attention']}>
      <header className={styles['head']}>
        <h2 className="title">{say('attention.title')}</h2>
        <span className="quiet">{attention.length === 0 ? '' : attention.length}</span>
      </header>
      {attention.length === 0 ? (
        <p className="second">{say('attention.none')}</p>
      ) : (
        <ol>
          {attention.map((item) => (
            <Line
              key={`${item.kind} ${item.object?.name ?? ''} ${item.window ?? ''}`}
              item={item}
            />
          ))}
        </ol>
      )}
    </section>
  );
}

function Line({ item }: { readonly item: Item }) {
  const say = useWords();
  const formats = useFormats();
  const {
    kind,
    severity,
    object,
    since,
    spent = '0',
    limit = '0',
    window,
    count = 0,
    of = 0,
    versions: [theirs = '', ours = ''] = [],
    error,
  } = item;
  const share = Number(limit) === 0 ? 1 : Number(spent) / Number(limit);
  const values = {
    name: object?.name ?? say('attention.thisGateway'),
    of,
    theirs,
    ours,
    percent: formats.percent(share),
    spent: formats.amount(Number(spent)),
    limit: formats.count(Number(limit)),
    window: window === undefined ? '' : say(`attention.windows.${window}`),
    count,
    number: formats.count(count),
    error: error === undefined ? '' : resultText(error, say),
    time: since === null ? '' : formats.moment(since),
  };
  return (
    <li className={styles[severity]}>
      <Icon name={severity === 'failed' ? 'cross' : 'warning'} />
      <div>
        <p className={styles['what']}>
          <span className="strong">{say(`attention.${kind}.title`, values)}</span>
          <Way item={item} />
        </p>
        <p className="second">{say(`attention.${kind}.text`, values)}</p>
      </div>
    </li>
  );
}

function Way({ item: { kind, object } }: { readonly item: Item }) {
  const say = useWords();
  const text = say(`attention.${kind}.way`);
  const name = object?.name ?? '';
  switch (kind) {
    case 'channel_failing':
    case 'channel_unsteady':
    case 'channel_resting':
    case 'journal_growing':
    case 'journal_full':
    case 'node_version':
      return (
        <Link className="link" to="/health">
          {text}
        </Link>
      );
    case 'price_missing':
      return (
        <Link className="link" to="/models/$id" params={{ id: name }}>
          {text}
        </Link>
      );
    case 'budget_high':
      return (
        <Link
          className="link"
          to="/usage"
          search={{ range: '30d', group: 'user', filter: filterWord('team', name) }}
        >
          {text}
        </Link>
      );
    case 'key_expiring':
    case 'key_exhausted':
      return (
        <Link className="link" to="/keys" search={{ q: name }}>
          {text}
        </Link>
      );
  }
}
