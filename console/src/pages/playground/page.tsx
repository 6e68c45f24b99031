import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useRef, useState, type KeyboardEvent } from 'react';
import { useSession } from '../../app/session.ts';
import { Icon } from '../../pieces/icon.tsx';
import { ErrorState, Skeleton } from '../../pieces/states.tsx';
import { useWords } from '../../words/index.ts';
import { modelsQuery, type Model } from '../models/query.ts';
import { Column, type Partner, type Turn } from './column.tsx';
import styles from './page.module.css';
import { mostPartners, nativeProtocol, readPartners, writePartner } from './partners.ts';
import { RawDialog } from './raw-dialog.tsx';
import { ask, unanswered, type Answer } from './run.ts';
import { createSessionKeys } from './session-key.ts';
import { protocolsFor, type Message, type Question } from './speak.ts';

/** Models can be asked here, through the same endpoint and at the same price as from any client. */
export function PlaygroundPage() {
  const say = useWords();
  const list = useQuery(modelsQuery);
  const models = (list.data?.data ?? [])
    .filter(({ type, priced }) => protocolsFor(type).length > 0 && priced)
    // Most people come to talk.
    .toSorted((a, b) => Number(b.type === 'chat') - Number(a.type === 'chat'));
  return (
    <>
      {list.isSuccess && models.length > 0 ? (
        <Playground models={models} />
      ) : (
        <>
          <header className="top">
            <h1>{say('playground.title')}</h1>
          </header>
          <div className="body">
            {list.isError && <ErrorState error={list.error} onRetry={() => void list.refetch()} />}
            {list.isPending && <Skeleton rows={8} />}
            {list.isSuccess && (
              <div className="state">
                <p className="strong">{say('playground.empty')}</p>
                <p>{say('playground.emptyHint')}</p>
              </div>
            )}
          </div>
        </>
      )}
    </>
  );
}

/** A question, and the answers by column. */
interface Round {
  readonly prompt: string;
  readonly answers: readonly (Answer | null)[];
}

function Playground({ models }: { readonly models: readonly Model[] }) {
  const say = useWords();
  const navigate = useNavigate();
  const { csrf_token: token, teams, groups } = useSession();
  const [team, setTeam] = useState('');
  const { ask: written = [] } = useSearch({ from: '/inside/playground' });
  const partners = readPartners(written, models);
  const [rounds, setRounds] = useState<readonly Round[]>([]);
  const [prompt, setPrompt] = useState('');
  const [system, setSystem] = useState('');
  const [maxTokens, setMaxTokens] = useState('');
  const [temperature, setTemperature] = useState('');
  const [problem, setProblem] = useState<string | null>(null);
  const [raw, setRaw] = useState<Answer | null>(null);
  const [stop, setStop] = useState<AbortController | null>(null);
  const [keyOf] = useState(createSessionKeys);
  const field = useRef<HTMLTextAreaElement>(null);
  const isBusy = stop !== null;

  const choose = (next: readonly Partner[]) =>
    void navigate({ to: '.', search: { ask: next.map(writePartner) }, replace: true });

  function historyOf(column: number): Message[] {
    return rounds.flatMap(({ prompt: asked, answers }): Message[] => {
      const answer = answers[column];
      // What failed was not said, and a model need not know of it.
      return answer == null || answer.text === ''
        ? []
        : [
            { role: 'user', text: asked },
            { role: 'assistant', text: answer.text },
          ];
    });
  }

  async function send(): Promise<void> {
    const text = prompt.trim();
    if (text === '' || isBusy) return;
    const controller = new AbortController();
    setStop(controller);
    setProblem(null);
    const granted = teams.find(({ name }) => name === team)?.groups ?? groups;
    try {
      const asked = await Promise.all(
        partners.map(async ({ model, protocol }, column) => ({
          protocol,
          key: await keyOf({ group: groupOf(models, model, granted), team }, token),
          question: {
            model,
            messages: [...historyOf(column), { role: 'user', text }],
            system: system.trim(),
            maxTokens: maxTokens === '' ? null : Number(maxTokens),
            temperature: temperature === '' ? null : Number(temperature),
          } satisfies Question,
        })),
      );
      const at = rounds.length;
      setRounds([
        ...rounds,
        {
          prompt: text,
          answers: asked.map(({ protocol, question }) => unanswered(protocol, question)),
        },
      ]);
      setPrompt('');
      await Promise.all(
        asked.map((each, column) =>
          ask({
            ...each,
            signal: controller.signal,
            onChange: (answer) => setRounds((before) => withAnswer(before, at, column, answer)),
          }),
        ),
      );
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    } finally {
      setStop(null);
      field.current?.focus();
    }
  }

  function press(event: KeyboardEvent): void {
    if (event.key === 'Escape' && stop !== null) stop.abort();
    if (event.key !== 'Enter' || !(event.metaKey || event.ctrlKey)) return;
    event.preventDefault();
    void send();
  }

  return (
    <div className={styles['page']} onKeyDown={press}>
      <header className="top">
        <h1>{say('playground.title')}</h1>
        {partners.length < mostPartners && (
          <button
            type="button"
            className="button"
            disabled={isBusy}
            onClick={() => choose([...partners, another(models, partners)])}
          >
            {say('playground.compare')}
          </button>
        )}
        <button
          type="button"
          className="button"
          disabled={isBusy || rounds.length === 0}
          onClick={() => setRounds([])}
        >
          {say('playground.new')}
        </button>
      </header>
      <div className={styles['columns']}>
        {partners.map((partner, column) => (
          <Column
            key={column}
            partner={partner}
            models={models}
            turns={rounds.map(({ prompt: asked, answers }): Turn => ({
              prompt: asked,
              answer: answers[column] ?? null,
            }))}
            isBusy={isBusy}
            onChange={(next) => choose(partners.with(column, next))}
            onShowRaw={setRaw}
            {...(partners.length > 1 && {
              onRemove: () => {
                choose(partners.toSpliced(column, 1));
                setRounds(
                  rounds.map((round) => ({
                    ...round,
                    answers: round.answers.toSpliced(column, 1),
                  })),
                );
              },
            })}
          />
        ))}
      </div>
      <form
        className={styles['ask']}
        onSubmit={(event) => {
          event.preventDefault();
          void send();
        }}
      >
        <label className="hidden" htmlFor="prompt">
          {say('playground.prompt')}
        </label>
        <textarea
          className={`input ${styles['prompt-field']}`}
          id="prompt"
          ref={field}
          rows={2}
          value={prompt}
          placeholder={say('playground.promptHint')}
          autoFocus
          onChange={({ target }) => setPrompt(target.value)}
        />
        <p className="problem" role="alert">
          {problem}
        </p>
        <div className={styles['actions']}>
          <details className={styles['settings']}>
            <summary className="button">
              {say('playground.settings')}
              {[system, maxTokens, temperature, team].some((value) => value !== '') && (
                <Icon name="tick" size={12} />
              )}
            </summary>
            <div className={styles['menu']}>
              <div className="field">
                <label htmlFor="system">{say('playground.system')}</label>
                <textarea
                  className={`input ${styles['prompt-field']}`}
                  id="system"
                  rows={3}
                  value={system}
                  onChange={({ target }) => setSystem(target.value)}
                />
              </div>
              {teams.length > 0 && (
                <div className="field">
                  <label htmlFor="payer">{say('playground.payer')}</label>
                  <select
                    className="input"
                    id="payer"
                    value={team}
                    onChange={({ target }) => setTeam(target.value)}
                  >
                    <option value="">{say('playground.you')}</option>
                    {teams.map(({ name }) => (
                      <option key={name}>{name}</option>
                    ))}
                  </select>
                </div>
              )}
              <div className="field">
                <label htmlFor="max-tokens">{say('playground.maxTokens')}</label>
                <input
                  className="input"
                  id="max-tokens"
                  type="number"
                  min={1}
                  step={1}
                  value={maxTokens}
                  placeholder={say('playground.asModel')}
                  onChange={({ target }) => setMaxTokens(target.value)}
                />
              </div>
              <div className="field">
                <label htmlFor="temperature">{say('playground.temperature')}</label>
                <input
                  className="input"
                  id="temperature"
                  type="number"
                  min={0}
                  max={2}
                  step={0.1}
                  value={temperature}
                  placeholder={say('playground.asModel')}
                  onChange={({ target }) => setTemperature(target.value)}
                />
              </div>
            </div>
          </details>
          <span className={`hint ${styles['note']}`}>
            {team === '' ? say('playground.charged') : say('playground.chargedTeam', { team })}
          </span>
          {stop === null ? (
            <button type="submit" className="button main" disabled={prompt.trim() === ''}>
              {say('playground.send')}
            </button>
          ) : (
            <button type="button" className="button main" onClick={() => stop.abort()}>
              {say('playground.stop')}
            </button>
          )}
        </div>
      </form>
      {raw !== null && <RawDialog answer={raw} onClose={() => setRaw(null)} />}
    </div>
  );
}

/**
 * One that serves the model, and may be used if there is such a one; the usual one before others, so that one key does for
 * most.
 */
function groupOf(models: readonly Model[], id: string, granted: readonly string[]): string {
  const serving = models.find((model) => model.id === id)?.groups ?? [];
  const usable = serving.filter((group) => granted.includes(group));
  const groups = usable.length === 0 ? serving : usable;
  return groups.includes('default') ? 'default' : (groups[0] ?? 'default');
}

/** A model that is not asked yet, to compare. */
function another(models: readonly Model[], partners: readonly Partner[]): Partner {
  const model =
    models.find(({ id }) => !partners.some((partner) => partner.model === id)) ?? models[0];
  if (model === undefined) throw new Error('there is no model');
  return { model: model.id, protocol: nativeProtocol(model) };
}

function withAnswer(
  rounds: readonly Round[],
  at: number,
  column: number,
  answer: Answer,
): readonly Round[] {
  const round = rounds[at];
  if (round === undefined) return rounds;
  return rounds.with(at, { ...round, answers: round.answers.with(column, answer) });
}
