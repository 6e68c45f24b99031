import { useEffect, useEffectEvent, useState } from 'react';
import { ApiFailure, write, type Body, type Result } from '../../api/client.ts';
import { useSession } from '../../app/session.ts';
import { useFormats } from '../../format/numbers.ts';
import { Icon } from '../../pieces/icon.tsx';
import { Snippet } from '../../pieces/snippet.tsx';
import { useWords } from '../../words/index.ts';
import styles from './editor.module.css';

type Trial = Result<'testChannel'>;

/** The field that an outcome leads to, by its id. */
const remedies: Readonly<Record<Trial['class'], 'key' | 'address' | 'model' | 'again' | null>> = {
  works: null,
  'no-text-model': 'model',
  'no-address': 'address',
  'not-allowed': 'address',
  'no-connection': 'address',
  closed: 'address',
  tls: 'address',
  credential: 'key',
  funds: 'again',
  unknown: 'model',
  limited: 'again',
  refused: 'again',
  upstream: 'again',
  time: 'again',
  form: 'address',
  cut: 'again',
};

interface Props {
  /** What would be tried: as the API takes it. */
  readonly bodyOf: () => Body<'testChannel'>;
  readonly models: readonly string[];
  /** Whether it is tried as soon as it is shown. */
  readonly triesAtOnce: boolean;
  readonly onRemedy: (what: 'key' | 'address' | 'model') => void;
}

/** Tries the channel as it is on the page: how far one small request comes, and what to do if it fails. */
export function TrialPart({ bodyOf, models, triesAtOnce, onRemedy }: Props) {
  const say = useWords();
  const { csrf_token: token } = useSession();
  const [model, setModel] = useState('');
  const [trial, setTrial] = useState<Trial | null>(null);
  const [failure, setFailure] = useState<ApiFailure | null>(null);
  const [isBusy, setBusy] = useState(false);

  async function run(): Promise<void> {
    setBusy(true);
    setFailure(null);
    try {
      const body = { ...bodyOf(), ...(model.trim() !== '' && { model: model.trim() }) };
      setTrial(await write<'testChannel'>('POST', '/channels/test', body, token));
    } catch (error) {
      setTrial(null);
      if (!(error instanceof ApiFailure)) throw error;
      setFailure(error);
    } finally {
      setBusy(false);
    }
  }
  const begin = useEffectEvent(() => {
    if (triesAtOnce) void run();
  });
  useEffect(() => begin(), []);
  const remedy = trial === null ? null : remedies[trial.class];
  return (
    <div className={styles['stack']}>
      <div className={styles['trialLine']}>
        <div className="field">
          <label htmlFor="trial-model">{say('channels.trial.model')}</label>
          <input
            className="input"
            id="trial-model"
            list="channel-known-models"
            value={model}
            placeholder={models[0]}
            autoComplete="off"
            spellCheck={false}
            onChange={({ target }) => setModel(target.value)}
          />
        </div>
        <button
          type="button"
          className="button"
          id="trial-run"
          disabled={isBusy}
          onClick={() => void run()}
        >
          {say(
            isBusy
              ? 'channels.trial.running'
              : trial === null
                ? 'channels.trial.run'
                : 'channels.trial.again',
          )}
        </button>
      </div>
      <div role="status">
        {failure !== null && (
          <div className="problem">
            <p>
              {failure.code === 'too_many'
                ? say('channels.trial.tooMany')
                : say('channels.trial.notSent')}
            </p>
            <ul>
              {failure.fields.map(({ path, message }) => (
                <li key={path}>
                  <code>{path}</code> {message}
                </li>
              ))}
            </ul>
          </div>
        )}
        {trial !== null && (
          <>
            {trial.class !== 'no-text-model' && <Steps trial={trial} />}
            <Outcome trial={trial} />
            {remedy === 'again' && (
              <button type="button" className="link" onClick={() => void run()}>
                {say('channels.trial.again')}
              </button>
            )}
            {remedy !== null && remedy !== 'again' && (
              <button
                type="button"
                className="link"
                onClick={() => {
                  if (remedy === 'model') document.getElementById('trial-model')?.focus();
                  onRemedy(remedy);
                }}
              >
                {say(`channels.trial.remedies.${remedy}`)}
              </button>
            )}
            {trial.request !== null && <Sent request={trial.request} />}
          </>
        )}
      </div>
    </div>
  );
}

/** The steps always stand; each begins where the last one ended, and behind the failed one nothing was reached. */
function Steps({
  trial: { class: outcome, steps, status, text, usage, words },
}: {
  readonly trial: Trial;
}) {
  const say = useWords();
  const formats = useFormats();
  const whole = Math.max(
    1,
    steps.reduce((sum, { ms }) => sum + (ms ?? 0), 0),
  );
  const isWorking = outcome === 'works';
  // A response of an error has a head, so the step after the status is where it fails: the status says why.
  const failsAt = isWorking
    ? -1
    : status !== null && status >= 400
      ? steps.findIndex(({ step }) => step === 'status')
      : steps.findIndex(({ ok }) => !ok);
  return (
    <ol className={styles['steps']}>
      {steps.map(({ step, ms, ok }, at) => {
        const begin = steps.slice(0, at).reduce((sum, each) => sum + (each.ms ?? 0), 0);
        const isBad = at === failsAt;
        const isSkipped = !isWorking && at > failsAt;
        const detail =
          step === 'status' && status !== null
            ? String(status)
            : step === 'end' && isWorking
              ? text
              : '';
        return (
          <li key={step} data-bad={isBad} data-skipped={isSkipped}>
            <Icon name={isBad ? 'cross' : isSkipped || !ok ? 'ring' : 'tick'} size={12} />
            <span>{say(`channels.trial.steps.${step}`)}</span>
            <span className={styles['track']} aria-hidden="true">
              {ms !== null && !isSkipped && (
                <i
                  style={{
                    insetInlineStart: `${(100 * begin) / whole}%`,
                    inlineSize: `${(100 * ms) / whole}%`,
                  }}
                />
              )}
            </span>
            <span className="number">{ms === null || isSkipped ? '–' : formats.duration(ms)}</span>
            <span className="second">
              {isSkipped ? say('channels.trial.notReached') : detail}
              {isBad && words !== null && (
                <>
                  {' '}
                  <code>{words}</code>
                </>
              )}
              {step === 'end' && isWorking && usage !== null && (
                <span className="quiet">
                  {' '}
                  {say('channels.trial.usage', { input: usage.input, output: usage.output })}
                </span>
              )}
            </span>
          </li>
        );
      })}
    </ol>
  );
}

function Outcome({ trial: { class: outcome, text, words } }: { readonly trial: Trial }) {
  const say = useWords();
  const isWorking = outcome === 'works';
  return (
    <p className={`${styles['note']} ${isWorking ? '' : styles['bad']}`}>
      <span className="strong">{say(`channels.trial.outcomes.${outcome}`)}</span>{' '}
      {!isWorking && say(`channels.trial.advice.${outcome}`)}{' '}
      {!isWorking && words === null && text !== '' && <span className="second">{text}</span>}
    </p>
  );
}

/** The request as it went out. */
function Sent({
  request: { method, url, headers, body },
}: {
  readonly request: NonNullable<Trial['request']>;
}) {
  const say = useWords();
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  const text = `${method} ${url}\n${lines.join('\n')}\n\n${pretty(body)}`;
  return (
    <details className={styles['sent']}>
      <summary className="link">{say('channels.trial.sent')}</summary>
      <Snippet text={text} label={say('channels.trial.sent')} />
    </details>
  );
}

function pretty(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json), null, 2);
  } catch {
    return json;
  }
}
