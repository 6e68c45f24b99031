import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { read, write, type Result } from '../../api/client.ts';
import { useSession } from '../../app/session.ts';
import { useFormats } from '../../format/numbers.ts';
import { Dialog, DialogEnd } from '../../pieces/dialog.tsx';
import { FormEnd } from '../../pieces/fields.tsx';
import { Icon } from '../../pieces/icon.tsx';
import { Secret } from '../../pieces/secret.tsx';
import { PagedList } from '../../pieces/paged-list.tsx';
import { useKeys } from '../../pieces/use-keys.ts';
import { usePagedList } from '../../pieces/use-paged-list.ts';
import { useWrite } from '../../pieces/use-write.ts';
import { roleText } from '../../pieces/role-text.ts';
import { useWords } from '../../words/index.ts';
import styles from './page.module.css';
import { NewAdminKey } from './new-admin-key.tsx';

export type AdminKey = Result<'listAdminKeys'>['data'][number];
export type IssuedAdminKey = Result<'createAdminKey'>;

type Open =
  | { readonly kind: 'new' }
  | { readonly kind: 'secret'; readonly issued: IssuedAdminKey }
  | { readonly kind: 'revoke'; readonly key: AdminKey };

const listKey = ['admin-keys'];

/** The keys with which programs administer the gateway. */
export function AdminKeys() {
  const say = useWords();
  const client = useQueryClient();
  const [open, setOpen] = useState<Open | null>(null);
  const { list, items: keys } = usePagedList({
    queryKey: listKey,
    readPage: (cursor, signal) =>
      read<'listAdminKeys'>('/admin-keys', { ...(cursor !== undefined && { cursor }) }, signal),
    isOrdered: false,
  });
  const make = () => setOpen({ kind: 'new' });
  const close = () => setOpen(null);
  const changed = () => void client.invalidateQueries({ queryKey: listKey });
  useKeys({ n: make });

  return (
    <section className={styles['keys']} aria-label={say('settings.tabs.adminKeys')}>
      <header>
        <p className="hint">{say('settings.adminKeys.hint')}</p>
        <button type="button" className="button main" onClick={make}>
          {say('settings.adminKeys.new')}
        </button>
      </header>
      <PagedList
        list={list}
        isEmpty={keys.length === 0}
        empty={say('settings.adminKeys.empty')}
        more={say('keys.more')}
        rows={3}
      >
        <KeyTable keys={keys} onRevoke={(key) => setOpen({ kind: 'revoke', key })} />
      </PagedList>
      {open?.kind === 'new' && (
        <NewAdminKey
          onMade={(issued) => {
            changed();
            setOpen({ kind: 'secret', issued });
          }}
          onClose={close}
        />
      )}
      {open?.kind === 'secret' && <SecretOnce issued={open.issued} onClose={close} />}
      {open?.kind === 'revoke' && (
        <Revoke
          of={open.key}
          onRevoked={() => {
            changed();
            close();
          }}
          onClose={close}
        />
      )}
    </section>
  );
}

const columns = ['name', 'role', 'ips', 'maker', 'used', 'state'] as const;

function KeyTable({
  keys,
  onRevoke,
}: {
  readonly keys: readonly AdminKey[];
  readonly onRevoke: (key: AdminKey) => void;
}) {
  const say = useWords();
  const formats = useFormats();
  return (
    <div className="scroll" tabIndex={0} role="region" aria-label={say('settings.tabs.adminKeys')}>
      <table className={`table pinned stacks ${styles['keyTable']}`}>
        <thead>
          <tr>
            {columns.map((name) => (
              <th key={name} scope="col" data-column={name}>
                {say(`settings.adminKeys.columns.${name}`)}
              </th>
            ))}
            <th scope="col" data-column="actions">
              <span className="hidden">{say('keys.columns.actions')}</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {keys.map((key) => (
            <tr key={key.id}>
              <th scope="row" data-column="name">
                <span className={styles['name']}>{key.name}</span>
                <code className="quiet">{key.prefix}</code>
              </th>
              <td data-column="role">{roleText(key.role, say)}</td>
              <td data-column="ips">
                {key.ips.length === 0 ? say('settings.adminKeys.anywhere') : key.ips.join(', ')}
              </td>
              <td data-column="maker">
                <Maker of={key.created_by} />
              </td>
              <td data-column="used" title={key.last_used_address ?? ''}>
                {key.last_used_at === null ? say('keys.never') : formats.time(key.last_used_at)}
              </td>
              <td data-column="state">
                <State of={key} />
              </td>
              <td data-column="actions">
                {key.active && (
                  <button
                    type="button"
                    className="button bare"
                    aria-label={say('keys.revokeNamed', { name: key.name })}
                    onClick={() => onRevoke(key)}
                  >
                    {say('keys.revoke')}
                  </button>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** A key works on without its maker, and whoever looks at the list has to know. */
function Maker({ of }: { readonly of: AdminKey['created_by'] }) {
  const say = useWords();
  if (of === null) return say('settings.adminKeys.command');
  return (
    <>
      {of.email}
      {!of.administrator && (
        <span className="quiet"> ({say('settings.adminKeys.noAdministrator')})</span>
      )}
    </>
  );
}

function State({ of: { active, expires_at, revoked_at } }: { readonly of: AdminKey }) {
  const say = useWords();
  const formats = useFormats();
  const text = active
    ? say('keys.states.until', { day: formats.day(expires_at) })
    : revoked_at === null
      ? say('keys.states.expired')
      : say('keys.states.revoked', { day: formats.day(revoked_at) });
  return (
    <span className={`outcome ${active ? 'fine' : 'neutral'}`}>
      <Icon name={active ? 'tick' : 'ring'} size={12} />
      <span>{text}</span>
    </span>
  );
}

function SecretOnce({
  issued: { name, key: secret },
  onClose,
}: {
  readonly issued: IssuedAdminKey;
  readonly onClose: () => void;
}) {
  const say = useWords();
  return (
    <Dialog title={say('settings.adminKeys.ready', { name })} onClose={onClose}>
      {secret === undefined ? (
        <p>{say('settings.adminKeys.lost')}</p>
      ) : (
        <>
          <p>{say('settings.adminKeys.once')}</p>
          <Secret id="admin-key" text={secret} copy={say('keys.copySecret')} />
          <p className="hint">
            <code className="code">authorization: Bearer sa-…</code>
          </p>
        </>
      )}
      <DialogEnd word={say('keys.done')} onClose={onClose} />
    </Dialog>
  );
}

function Revoke({
  of: { id, name },
  onRevoked,
  onClose,
}: {
  readonly of: AdminKey;
  readonly onRevoked: () => void;
  readonly onClose: () => void;
}) {
  const say = useWords();
  const { csrf_token: token } = useSession();
  const sending = useWrite();
  return (
    <Dialog title={say('keys.revokeNamed', { name })} onClose={onClose}>
      <form
        className={styles['dialog']}
        onSubmit={(event) => {
          event.preventDefault();
          sending.run(async () => {
            await write<'revokeAdminKey'>('DELETE', `/admin-keys/${id}`, {}, token);
            onRevoked();
          });
        }}
      >
        <p>{say('settings.adminKeys.revokeText')}</p>
        <FormEnd
          sending={sending}
          cancel={say('keys.cancel')}
          submit={say('keys.revoke')}
          onCancel={onClose}
        />
      </form>
    </Dialog>
  );
}
