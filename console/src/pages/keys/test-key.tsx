import { Link } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { useFormats } from '../../format/numbers.ts';
import { Icon } from '../../pieces/icon.tsx';
import { Money } from '../../pieces/money.tsx';
import { useRow } from '../../pieces/use-row.ts';
import { useWords, type Say } from '../../words/index.ts';
import { priceOf, type Model } from '../models/query.ts';
import { nativeProtocol } from '../playground/partners.ts';
import { ask, type Answer } from '../playground/run.ts';
import styles from './page.module.css';

interface Props {
  readonly id: string;
  readonly secret: string;
  /** Those that the key may use. */
  readonly models: readonly Model[];
}

/** The least that every protocol accepts. */
const maxTokens = 16;

/** A real request with the key from this browser, as short and cheap as there is one. */
export function TestKey({ id, secret, models }: Props) {
  const say = useWords();
  const [answer, setAnswer] = useState<Answer | null>(null);
  const running = useRef<AbortController>(null);
  useEffect(() => () => running.current?.abort(), []);
  const model = cheapest(models);
  const isBusy = answer?.state === 'waiting' || answer?.state === 'streaming';

  function test(model: Model): void {
    running.current = new AbortController();
    const messages = [{ role: 'user', text: 'Say OK.' }] as const;
    void ask({
      protocol: nativeProtocol(model),
      question: { model: model.id, messages, system: '', maxTokens, temperature: null },
      key: secret,
      signal: running.current.signal,
      onChange: setAnswer,
    });
  }

  if (model === undefined) return <p className="hint">{say('keys.test.noModel')}</p>;
  return (
    <div className={styles['test']}>
      <button type="button" className="button" disabled={isBusy} onClick={() => test(model)}>
        {say('keys.test.test')}
      </button>
      <div role="status">
        {answer === null ? (
          <span className="hint">{say('keys.test.hint', { model: model.id })}</span>
        ) : isBusy ? (
          <span className="second">{say('keys.test.running', { model: model.id })}</span>
        ) : (
          <Tested answer={answer} id={id} />
        )}
      </div>
    </div>
  );
}

function Tested({ answer, id }: { readonly answer: Answer; readonly id: string }) {
  const say = useWords();
  const formats = useFormats();
  const row = useRow(answer.requestId, { key: id });
  const hasFailed = answer.state === 'failed';
  return (
    <>
      <p className={styles['tested']}>
        <span className={`outcome ${hasFailed ? 'failed' : 'fine'}`}>
          <Icon name={hasFailed ? 'cross' : 'tick'} size={12} />
          {say(hasFailed ? 'keys.test.failed' : 'keys.test.works')}
        </span>{' '}
        {wordsOf(answer, say)}
      </p>
      <p className={`second ${styles['figures']}`}>
        {answer.firstToken !== null && (
          <span>
            {say('playground.firstToken')} {formats.duration(answer.firstToken)}
          </span>
        )}
        {row?.cost != null && (
          <span>
            <Money amount={row.cost} /> USD
          </span>
        )}
        {row != null && (
          // In another tab: this dialog is the only place that has the secret.
          <Link className="link" to="/requests/$id" params={{ id: row.id }} target="_blank">
            {say('keys.test.receipt')}
          </Link>
        )}
      </p>
    </>
  );
}

/** What came of it. */
function wordsOf({ state, status, problem, model, text }: Answer, say: Say): string {
  if (status === null) return say('keys.test.unreachable');
  if (status >= 400) return say('keys.test.refused', { status, problem: problem ?? '' });
  if (state === 'failed') return say('keys.test.cut', { model, problem: problem ?? '' });
  return text === '' ? say('keys.test.silent', { model }) : say('keys.test.said', { model, text });
}

function cheapest(models: readonly Model[]): Model | undefined {
  const price = (model: Model) =>
    Number(priceOf(model, 'input') ?? 0) + Number(priceOf(model, 'output') ?? 0);
  const usable = models.filter(({ type, priced }) => type === 'chat' && priced);
  return usable.toSorted((a, b) => price(a) - price(b))[0];
}
