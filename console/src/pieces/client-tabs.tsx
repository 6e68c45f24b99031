import { useState } from 'react';
import { useSession } from '../app/session.ts';
import {
  clientNames,
  clientSnippet,
  inPowerShell,
  modelFor,
  modelsFor,
  type Candidate,
  type ClientName,
} from '../snippets/clients.ts';
import { useWords } from '../words/index.ts';
import styles from './client-tabs.module.css';
import { Snippet } from './snippet.tsx';
import { Tabs } from './tabs.tsx';

interface Props {
  readonly open: ClientName;
  readonly onOpen: (name: ClientName) => void;
  /** Those to choose from; a page of one model has one. */
  readonly models: readonly Candidate[];
  /** What the key was used for most. */
  readonly used?: string | undefined;
  /** The secret; absent: a placeholder. */
  readonly secret?: string;
}

const shells = ['sh', 'PowerShell'] as const;
type Shell = (typeof shells)[number];

/** How to reach the gateway with each of the usual clients. */
export function ClientTabs({ open, onOpen, models, used, secret }: Props) {
  const say = useWords();
  const { gateway } = useSession();
  const [chosen, choose] = useState<string | null>(null);
  const [shell, setShell] = useState<Shell>(
    navigator.userAgent.includes('Windows') ? 'PowerShell' : 'sh',
  );
  const choices = modelsFor(open, models).map(({ id }) => id);
  const usual = modelFor(open, models, used);
  const model = chosen !== null && choices.includes(chosen) ? chosen : usual.model;
  const { steps, tried, note } = clientSnippet(open, {
    url: gateway.url,
    model,
    small: usual.small,
    ...(secret !== undefined && { key: secret }),
  });
  const hasShell = steps.some(({ text }) => inPowerShell(text) !== text);
  return (
    <div>
      <Tabs<ClientName>
        label={say('clients.title')}
        tabs={clientNames.map((name) => ({ name, title: name }))}
        open={open}
        onOpen={onOpen}
      >
        <div className={styles['steps']}>
          <div className={styles['choices']}>
            {choices.length > 1 && (
              <label>
                {say('clients.model')}
                <select
                  className="input"
                  value={model}
                  onChange={({ target }) => choose(target.value)}
                >
                  {choices.map((id) => (
                    <option key={id}>{id}</option>
                  ))}
                </select>
              </label>
            )}
            {hasShell && (
              <label>
                {say('clients.shell')}
                <select
                  className="input"
                  value={shell}
                  onChange={({ target }) => setShell(target.value as Shell)}
                >
                  {shells.map((name) => (
                    <option key={name}>{name}</option>
                  ))}
                </select>
              </label>
            )}
          </div>
          {steps.map(({ place, text }) => {
            const where = 'file' in place ? place.file : say(`clients.places.${place.named}`);
            return (
              <div key={where}>
                <p className={styles['place']}>{'file' in place ? <code>{where}</code> : where}</p>
                <Snippet
                  text={shell === 'PowerShell' ? inPowerShell(text) : text}
                  label={steps.length === 1 ? open : `${open}, ${where}`}
                />
              </div>
            );
          })}
          <p className="hint">
            {note !== undefined && `${say(`clients.notes.${note}`)} `}
            {tried === null
              ? say('clients.untried', { client: open })
              : say('clients.tried', { version: tried })}
          </p>
        </div>
      </Tabs>
    </div>
  );
}
