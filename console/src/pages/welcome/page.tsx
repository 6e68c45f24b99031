import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { read, write, type Result } from '../../api/client.ts';
import { choose, keep, useSession } from '../../app/session.ts';
import { clientName } from '../../format/client.ts';
import { useFormats } from '../../format/numbers.ts';
import { ClientTabs } from '../../pieces/client-tabs.tsx';
import { ShortForm, TextField } from '../../pieces/fields.tsx';
import { Icon } from '../../pieces/icon.tsx';
import { Money } from '../../pieces/money.tsx';
import { Outcome } from '../../pieces/outcome.tsx';
import { Snippet } from '../../pieces/snippet.tsx';
import type { ClientName } from '../../snippets/clients.ts';
import { useWrite } from '../../pieces/use-write.ts';
import { textOf } from '../../pieces/form-values.ts';
import { useWords } from '../../words/index.ts';
import { FirstUpstream } from '../channels/first-upstream.tsx';
import { channelsQuery } from '../channels/list.ts';
import { modelsQuery } from '../models/query.ts';
import { PasswordForm } from '../settings/password-form.tsx';
import styles from './page.module.css';

/** Leads whoever set the gateway up to the first request of their own. */
export function WelcomePage() {
  const say = useWords();
  const client = useQueryClient();
  const navigate = useNavigate();
  const session = useSession();
  const mayAdd = session.permissions.includes('channels.write');
  const [hasPassword, setHasPassword] = useState(false);
  /** The only place that holds the secret: it is forgotten with the page. */
  const [issued, setIssued] = useState<Result<'createKey'> | null>(null);
  const [since] = useState(() => new Date().toISOString());
  const first = useQuery({
    queryKey: ['first-request', issued?.id],
    enabled: issued !== null,
    queryFn: async ({ signal }) => {
      const query = { key: issued?.id ?? '', from: since, limit: '1' };
      const { data } = await read<'listUsage'>('/usage', query, signal);
      return data[0] ?? null;
    },
    refetchInterval: ({ state }) => (state.data == null ? 1_000 : false),
  });
  const leaving = useWrite();
  const leave = () =>
    leaving.run(async () => {
      await choose(client, session, { welcomed: true });
      await navigate({ to: '/' });
    });

  return (
    <>
      <header className="top">
        <h1>{say('welcome.title')}</h1>
        <button type="button" className="button" disabled={leaving.isBusy} onClick={leave}>
          {say('welcome.skip')}
        </button>
      </header>
      <div className={`body ${styles['page']}`}>
        <p className="problem" role="alert">
          {leaving.problem}
        </p>
        <p className={styles['lead']}>{say('welcome.lead')}</p>
        <ol className={styles['steps']}>
          <Step number={1} title={say('welcome.password')} isDone={hasPassword}>
            {hasPassword ? (
              <p className="second">{say('welcome.passwordDone')}</p>
            ) : (
              <>
                <p className="second">{say('welcome.passwordHint')}</p>
                <PasswordForm
                  onChanged={(next) => {
                    keep(client, next);
                    setHasPassword(true);
                  }}
                />
              </>
            )}
          </Step>
          {mayAdd && <Upstream />}
          <Step number={mayAdd ? 3 : 2} title={say('welcome.key')} isDone={issued !== null}>
            {issued === null ? <NewKey onMade={setIssued} /> : <UseKey issued={issued} />}
          </Step>
          <Step number={mayAdd ? 4 : 3} title={say('welcome.first')} isDone={first.data != null}>
            {issued === null ? (
              <p className="second">{say('welcome.keyFirst')}</p>
            ) : first.data == null ? (
              <p className="second" role="status">
                {say('welcome.waiting')}
              </p>
            ) : (
              <Came row={first.data} onDone={leave} />
            )}
          </Step>
        </ol>
      </div>
    </>
  );
}

/** Where answers come from: the simulator, until there is an upstream. */
function Upstream() {
  const say = useWords();
  const [made, setMade] = useState<string | null>(null);
  const { simulated, data = [] } = useQuery(channelsQuery).data ?? {};
  const real = simulated === false ? data.filter(({ enabled }) => enabled) : [];
  const names = made === null ? real.map(({ name }) => name) : [made];
  return (
    <Step number={2} title={say('welcome.upstream')} isDone={names.length > 0}>
      {names.length > 0 ? (
        <>
          <p className="second" role="status">
            {say('welcome.upstreamDone', { names: names.join(', ') })}
          </p>
          <Link className="link" to="/channels">
            {say('channels.title')}
          </Link>
        </>
      ) : (
        <>
          <p className="second">{say('welcome.upstreamHint')}</p>
          <FirstUpstream onMade={({ name }) => setMade(name)} />
        </>
      )}
    </Step>
  );
}

function Step({
  number,
  title,
  isDone,
  children,
}: {
  readonly number: number;
  readonly title: string;
  readonly isDone: boolean;
  readonly children: ReactNode;
}) {
  return (
    <li className={styles['step']} data-done={isDone}>
      <span className={styles['number']}>{isDone ? <Icon name="tick" /> : number}</span>
      <div className={styles['content']}>
        <h2 className="title">{title}</h2>
        {children}
      </div>
    </li>
  );
}

function NewKey({ onMade }: { readonly onMade: (issued: Result<'createKey'>) => void }) {
  const say = useWords();
  const { csrf_token: token } = useSession();
  const sending = useWrite(['name']);
  return (
    <ShortForm
      sending={sending}
      submit={say('welcome.make')}
      isMain
      onSend={async (form) => {
        const body = { name: textOf(form, 'name') ?? '' };
        onMade(await write<'createKey'>('POST', '/keys', body, token));
      }}
    >
      <TextField
        name="name"
        label={say('keys.form.name')}
        hint={say('welcome.keyHint')}
        initial="laptop"
        required
        sending={sending}
      />
    </ShortForm>
  );
}

function UseKey({ issued: { name, key = '' } }: { readonly issued: Result<'createKey'> }) {
  const say = useWords();
  const models = useQuery(modelsQuery).data?.data ?? [];
  const [open, setOpen] = useState<ClientName>('curl');
  return (
    <>
      <p className="second">{say('welcome.keyDone', { name })}</p>
      <Snippet text={key} label={say('welcome.secret')} />
      <ClientTabs open={open} onOpen={setOpen} models={models} secret={key} />
    </>
  );
}

function Came({
  row,
  onDone,
}: {
  readonly row: Result<'listUsage'>['data'][number];
  readonly onDone: () => void;
}) {
  const say = useWords();
  const formats = useFormats();
  return (
    <>
      <p role="status">
        <Outcome outcome={row.outcome} status={row.status} isFull />{' '}
        <span className="second">
          {formats.time(row.time)}, {clientName(row.client, say)}
        </span>{' '}
        <Link className="link" to="/requests/$id" params={{ id: row.id }}>
          {say('welcome.receipt')}
        </Link>
      </p>
      <ol className={styles['chain']}>
        <li>
          <span>{say('welcome.signedIn')}</span>
          {row.key}
        </li>
        <li>
          <span>{say('request.route')}</span>
          {row.attempts.map(({ channel }) => channel).join(', ') || '–'}
        </li>
        <li>
          <span>{say('playground.firstToken')}</span>
          {row.ttft_ms === null ? '–' : formats.duration(row.ttft_ms)}
        </li>
        <li>
          <span>{say('playground.cost')}</span>
          {row.cost === null ? '–' : <Money amount={row.cost} />}
        </li>
      </ol>
      <button type="button" className="button main" onClick={onDone}>
        {say('welcome.done')}
      </button>
    </>
  );
}
