import { useState, type FormEvent } from 'react';
import { write, type Result } from '../../api/client.ts';
import { useSession } from '../../app/session.ts';
import { Icon } from '../../pieces/icon.tsx';
import { rawTextOf } from '../../pieces/form-values.ts';
import { useWrite } from '../../pieces/use-write.ts';
import { useWords } from '../../words/index.ts';
import styles from './gateway.module.css';
import { fileText } from './setting-text.ts';

type Plan = Result<'planConfiguration'>;

/** What would change if a pasted text were the configuration file. */
export function PlanOfText({ file }: { readonly file: string }) {
  const say = useWords();
  const { csrf_token: token } = useSession();
  const [plan, setPlan] = useState<Plan | null>(null);
  const sending = useWrite(['text']);

  function submit(event: FormEvent<HTMLFormElement>): void {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const body = {
      text: rawTextOf(form, 'text'),
      take_over: form.get('take_over') !== null,
    };
    setPlan(null);
    sending.run(async () =>
      setPlan(await write<'planConfiguration'>('POST', '/config/plan', body, token)),
    );
  }

  const problems = sending.fields.map(({ message }) => message);
  return (
    <section className={styles['group']}>
      <h2 className="title">{say('settings.config.plan.title')}</h2>
      <p className="hint">{say('settings.config.plan.hint')}</p>
      <form className={styles['plan']} onSubmit={submit}>
        <label className="hidden" htmlFor="plan-text">
          {say('settings.config.plan.text')}
        </label>
        <textarea
          className={`input ${styles['text']}`}
          id="plan-text"
          name="text"
          rows={8}
          required
          maxLength={60_000}
          placeholder={file}
          spellCheck={false}
          autoComplete="off"
          aria-invalid={problems.length > 0}
          aria-describedby="plan-problems"
        />
        <div id="plan-problems" role="alert">
          {problems.length > 0 && (
            <ul className={`problem ${styles['lines']}`}>
              {problems.map((message, at) => (
                <li key={at}>
                  <code>{message}</code>
                </li>
              ))}
            </ul>
          )}
          {sending.problem !== null && <p className="problem">{sending.problem}</p>}
        </div>
        <div className={styles['tools']}>
          <label className={styles['tick']}>
            <input type="checkbox" name="take_over" />
            {say('settings.config.plan.takeOver')}
          </label>
          <button type="submit" className="button" disabled={sending.isBusy}>
            {say('settings.config.plan.show')}
          </button>
        </div>
      </form>
      <div role="status">{plan !== null && <Changes plan={plan} />}</div>
    </section>
  );
}

function Changes({ plan }: { readonly plan: Plan }) {
  const say = useWords();
  const { steps, more_steps: more, settings, conflicts, notes, not_compared: passed } = plan;
  const isNothing = steps.length + settings.length + conflicts.length === 0;
  return (
    <div className={styles['changes']}>
      {conflicts.length > 0 && (
        <>
          <p className="failed strong">
            <Icon name="cross" size={12} /> {say('settings.config.plan.conflicts')}
          </p>
          <ul className={styles['lines']}>
            {conflicts.map((conflict) => (
              <li key={conflict}>{conflict}</li>
            ))}
          </ul>
        </>
      )}
      {isNothing && <p className="strong">{say('settings.config.plan.nothing')}</p>}
      {steps.length > 0 && (
        <ul className={styles['steps']} aria-label={say('settings.config.plan.entries')}>
          {steps.map(({ kind, name, action, changes }) => (
            <li key={`${kind} ${name}`}>
              <span className="strong">
                {say(`settings.config.plan.actions.${action as 'create'}`)}
              </span>{' '}
              <span className="second">{say(`settings.config.plan.kinds.${kind as 'key'}`)}</span>{' '}
              {name}
              {action === 'update' && (
                <dl>
                  {changes.map(({ field, before, after, secret }) => (
                    <div key={field}>
                      <dt>{field}</dt>
                      <dd>
                        {secret ? (
                          say('settings.config.plan.secret')
                        ) : (
                          <Change before={before} after={after} />
                        )}
                      </dd>
                    </div>
                  ))}
                </dl>
              )}
            </li>
          ))}
        </ul>
      )}
      {more > 0 && <p className="second">{say('settings.config.plan.more', { count: more })}</p>}
      {settings.length > 0 && (
        <>
          <p className="strong">{say('settings.config.plan.settings')}</p>
          <dl className={styles['steps']}>
            {settings.map(({ name, before, after }) => (
              <div key={name}>
                <dt>
                  <code>{name}</code>
                </dt>
                <dd>
                  <Change before={before} after={after} />
                </dd>
              </div>
            ))}
          </dl>
        </>
      )}
      {notes.length > 0 && (
        <ul className={`second ${styles['lines']}`}>
          {notes.map((note) => (
            <li key={note}>{note}</li>
          ))}
        </ul>
      )}
      {passed.length > 0 && (
        <details>
          <summary className="link">
            {say('settings.config.plan.passed', { count: passed.length })}
          </summary>
          <ul className={styles['lines']}>
            {passed.map(({ line, path, reason }) => (
              <li key={path}>
                <code>
                  {line}: {path}
                </code>{' '}
                <span className="second">{say(`settings.config.plan.reasons.${reason}`)}</span>
              </li>
            ))}
          </ul>
        </details>
      )}
    </div>
  );
}

function Change({ before, after }: { readonly before: unknown; readonly after: unknown }) {
  return (
    <>
      <del>{fileText(before)}</del> → <ins>{fileText(after)}</ins>
    </>
  );
}
