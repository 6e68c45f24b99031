import { useSession } from '../app/session.ts';
import { clientNames, clientSnippet, type ClientName } from '../snippets/clients.ts';
import { useWords } from '../words/index.ts';
import styles from './client-tabs.module.css';
import { Snippet } from './snippet.tsx';
import { Tabs } from './tabs.tsx';

interface Props {
  readonly open: ClientName;
  readonly onOpen: (name: ClientName) => void;
  readonly model: string;
  /** The secret; absent: a placeholder. */
  readonly secret?: string;
}

/** How to reach the gateway with each of the usual clients. */
export function ClientTabs({ open, onOpen, model, secret }: Props) {
  const say = useWords();
  const { gateway } = useSession();
  const { steps, tried, note } = clientSnippet(open, {
    url: gateway.url,
    model,
    ...(secret !== undefined && { key: secret }),
  });
  return (
    <div>
      <Tabs<ClientName>
        label={say('clients.title')}
        tabs={clientNames.map((name) => ({ name, title: name }))}
        open={open}
        onOpen={onOpen}
      >
        <div className={styles['steps']}>
          {steps.map(({ place, text }) => {
            const where = 'file' in place ? place.file : say(`clients.places.${place.named}`);
            return (
              <div key={where}>
                <p className={styles['place']}>{'file' in place ? <code>{where}</code> : where}</p>
                <Snippet text={text} label={steps.length === 1 ? open : `${open}, ${where}`} />
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
