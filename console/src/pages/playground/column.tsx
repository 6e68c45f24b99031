import { Link } from '@tanstack/react-router';
import { useDeferredValue, useEffect, useRef } from 'react';
import { useSession } from '../../app/session.ts';
import { useFormats } from '../../format/numbers.ts';
import { Icon } from '../../pieces/icon.tsx';
import { Money } from '../../pieces/money.tsx';
import { useRow } from '../../pieces/use-row.ts';
import { useWords } from '../../words/index.ts';
import type { Model } from '../models/query.ts';
import { Markdown } from './markdown.tsx';
import styles from './page.module.css';
import type { Answer } from './run.ts';
import { partnerFor } from './partners.ts';
import { protocolsFor, type Protocol } from './speak.ts';

/** What a column asks. */
export interface Partner {
  readonly model: string;
  readonly protocol: Protocol;
}

/** A question and what this column's model said to it; null: it was not asked. */
export interface Turn {
  readonly prompt: string;
  readonly answer: Answer | null;
}

interface Props {
  readonly partner: Partner;
  readonly models: readonly Model[];
  readonly turns: readonly Turn[];
  readonly isBusy: boolean;
  readonly onChange: (partner: Partner) => void;
  /** Absent: it is the only one. */
  readonly onRemove?: () => void;
  readonly onShowRaw: (answer: Answer) => void;
}

/** One model, what it was asked, and what it said. */
export function Column({ partner, models, turns, isBusy, onChange, onRemove, onShowRaw }: Props) {
  const say = useWords();
  const log = useRef<HTMLDivElement>(null);
  const type = models.find(({ id }) => id === partner.model)?.type ?? 'chat';
  const last = turns.at(-1)?.answer ?? null;
  // Follows the answer, unless the person has scrolled up to read.
  const length = (last?.text.length ?? 0) + (last?.reasoning.length ?? 0);
  useEffect(() => {
    const element = log.current;
    if (element === null) return;
    const below = element.scrollHeight - element.scrollTop - element.clientHeight;
    if (below < 120) element.scrollTop = element.scrollHeight;
  }, [length, turns.length]);

  return (
    <section className={styles['column']} aria-label={partner.model}>
      <header>
        <select
          className={`input ${styles['model']}`}
          aria-label={say('playground.model')}
          value={partner.model}
          disabled={isBusy}
          onChange={({ target }) => onChange(partnerFor(partner, target.value, models))}
        >
          {models.map(({ id }) => (
            <option key={id}>{id}</option>
          ))}
        </select>
        <select
          className={`input ${styles['protocol']}`}
          aria-label={say('playground.protocol')}
          value={partner.protocol}
          disabled={isBusy}
          onChange={({ target }) => onChange({ ...partner, protocol: target.value as Protocol })}
        >
          {protocolsFor(type).map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
        {onRemove !== undefined && (
          <button
            type="button"
            className="button bare"
            disabled={isBusy}
            aria-label={say('playground.remove', { model: partner.model })}
            onClick={onRemove}
          >
            <Icon name="close" />
          </button>
        )}
      </header>
      <div className={styles['log']} ref={log} tabIndex={0} role="log" aria-live="off">
        {turns.map(({ prompt, answer }, at) => (
          <div key={at} className={styles['turn']}>
            <p className={styles['prompt']}>{prompt}</p>
            {answer !== null && <Said answer={answer} />}
          </div>
        ))}
      </div>
      {last !== null && <Figures answer={last} onShowRaw={() => onShowRaw(last)} />}
    </section>
  );
}

function Said({ answer }: { readonly answer: Answer }) {
  const say = useWords();
  const text = useDeferredValue(answer.text);
  return (
    <div aria-busy={answer.state === 'waiting' || answer.state === 'streaming'}>
      {answer.reasoning !== '' && (
        <details className={styles['reasoning']} open={text === ''}>
          <summary>{say('playground.reasoning')}</summary>
          <p>{answer.reasoning}</p>
        </details>
      )}
      {text !== '' && <Markdown text={text} />}
      {answer.pictures.map((picture, at) => (
        <img key={at} className={styles['picture']} src={picture} alt={say('playground.picture')} />
      ))}
      {(answer.state === 'waiting' || answer.state === 'streaming') && (
        <span className={styles['caret']} aria-hidden="true" />
      )}
      {answer.problem !== null && (
        <p className={styles['problem']} role="alert">
          <Icon name="cross" size={12} />
          <span>
            {say(answer.text === '' ? 'playground.refused' : 'playground.cut')}
            {answer.status !== null && answer.status >= 400 && ` ${answer.status}`}
            {': '}
            {answer.problem}
          </span>
        </p>
      )}
    </div>
  );
}

function Figures({
  answer,
  onShowRaw,
}: {
  readonly answer: Answer;
  readonly onShowRaw: () => void;
}) {
  const say = useWords();
  const formats = useFormats();
  const { user } = useSession();
  const hasEnded = !['waiting', 'streaming'].includes(answer.state);
  const row = useRow(hasEnded ? answer.requestId : null, { key: 'playground', user: user.email });
  const tokens = row?.tokens;
  const input =
    tokens === undefined
      ? null
      : tokens.input + tokens.cache_read + tokens.cache_write + tokens.cache_write_1h;
  const writing =
    answer.total === null || answer.firstToken === null ? 0 : answer.total - answer.firstToken;
  const speed =
    tokens !== undefined && tokens.output > 1 && writing > 0
      ? ((tokens.output - 1) / writing) * 1_000
      : null;
  return (
    <footer>
      <dl className={styles['figures']}>
        <div>
          <dt>{say('playground.firstToken')}</dt>
          <dd>{answer.firstToken === null ? '–' : formats.duration(answer.firstToken)}</dd>
        </div>
        <div>
          <dt>{say('playground.speed')}</dt>
          <dd>
            {speed === null
              ? '–'
              : say('models.perSecond', { count: formats.count(Math.round(speed)) })}
          </dd>
        </div>
        <div>
          <dt>{say('playground.tokens')}</dt>
          <dd>
            {tokens === undefined || input === null
              ? '–'
              : `${formats.count(input)} → ${formats.count(tokens.output)}`}
          </dd>
        </div>
        <div>
          <dt>{say('playground.cost')}</dt>
          <dd>{row?.cost == null ? '–' : <Money amount={row.cost} />}</dd>
        </div>
      </dl>
      <p className={styles['links']}>
        <span className={`outcome ${answer.state === 'failed' ? 'failed' : 'fine'}`} role="status">
          <Icon name={answer.state === 'failed' ? 'cross' : hasEnded ? 'tick' : 'ring'} size={12} />
          {say(`playground.states.${answer.state}`)}
        </span>
        {row != null && (
          // Elsewhere, so that the conversation stays.
          <Link className="link" to="/requests/$id" params={{ id: row.id }} target="_blank">
            {say('playground.receipt')}
          </Link>
        )}
        <button type="button" className="link" onClick={onShowRaw}>
          {say('playground.raw')}
        </button>
      </p>
    </footer>
  );
}
