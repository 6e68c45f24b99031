import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState, type FormEvent } from 'react';
import { write } from '../../api/client.ts';
import { useSession } from '../../app/session.ts';
import { useFormats } from '../../format/numbers.ts';
import { Dialog } from '../../pieces/dialog.tsx';
import { FormEnd, TextField } from '../../pieces/fields.tsx';
import { textOf } from '../../pieces/form-values.ts';
import { RowMenu } from '../../pieces/row-menu.tsx';
import { ErrorState, Skeleton } from '../../pieces/states.tsx';
import { Table } from '../../pieces/table.tsx';
import { Toast, useToast } from '../../pieces/toast.tsx';
import { useWrite } from '../../pieces/use-write.ts';
import { useWords } from '../../words/index.ts';
import { Origin } from './aliases.tsx';
import styles from './page.module.css';
import { PricePreview } from './price-preview.tsx';
import { groupsQuery, type Group } from './query.ts';

/** The group of keys that name none. */
const usual = 'default';

const after = `less ${styles['after']}`;

type Changed = { readonly price_multiplier: string | null } | { readonly enabled: boolean };

/** Groups with the factor on every price, and what uses them. */
export function Groups() {
  const say = useWords();
  const formats = useFormats();
  const { permissions, csrf_token: token } = useSession();
  const client = useQueryClient();
  const list = useQuery(groupsQuery);
  const sending = useWrite(['name', 'price_multiplier']);
  const { toast, setToast, endToast } = useToast();
  const [open, setOpen] = useState<{
    readonly name: string;
    readonly what: 'factor' | 'disable';
  }>();
  const mayWrite = permissions.includes('models.write');
  const groups = list.data?.data ?? [];
  const opened = groups.find(({ name }) => name === open?.name);
  const close = () => setOpen(undefined);
  const reload = async () => {
    await client.invalidateQueries({ queryKey: groupsQuery.queryKey });
    await client.invalidateQueries({ queryKey: ['models'] });
  };

  function add(event: FormEvent<HTMLFormElement>): void {
    event.preventDefault();
    const form = event.currentTarget;
    const fields = new FormData(form);
    const name = textOf(fields, 'name') ?? '';
    sending.run(async () => {
      const body = { name, price_multiplier: textOf(fields, 'price_multiplier') };
      await write<'createGroup'>('POST', '/groups', body, token);
      form.reset();
      await reload();
      setToast({ text: say('models.groupList.added', { name }) });
    });
  }

  /** @throws ApiFailure */
  async function change({ name, revision }: Group, body: Changed): Promise<Group> {
    const path = `/groups/${encodeURIComponent(name)}`;
    const headers = { 'if-match': `"${revision}"` };
    try {
      const changed = await write<'changeGroup'>('PATCH', path, body, token, headers);
      return { ...changed, keys: 0, people: 0, models: 0 };
    } finally {
      await reload();
    }
  }

  const enable = (group: Group) =>
    sending.run(async () => {
      await change(group, { enabled: true });
      setToast({ text: say('models.groupList.enabled', { name: group.name }) });
    });

  return (
    <div className={`body ${styles['section']}`}>
      <p className={styles['note']}>{say('models.groupList.hint')}</p>
      {mayWrite && (
        <form className={styles['line']} onSubmit={add}>
          <TextField name="name" label={say('models.groupList.name')} required sending={sending} />
          <TextField
            name="price_multiplier"
            label={say('models.groupList.factor')}
            initial="1"
            inputMode="decimal"
            sending={sending}
          />
          <button type="submit" className="button main" disabled={sending.isBusy}>
            {say('models.groupList.add')}
          </button>
        </form>
      )}
      <p className="problem" role="alert">
        {sending.problem}
      </p>
      {list.isPending && <Skeleton rows={4} />}
      {list.isError && <ErrorState error={list.error} onRetry={() => void list.refetch()} />}
      {list.isSuccess && (
        <Table
          label={say('models.tabs.groups')}
          heads={[
            say('models.groupList.name'),
            [say('models.groupList.factor'), 'number'],
            [say('models.groupList.models'), 'number less'],
            [say('models.groupList.keys'), 'number'],
            [say('models.groupList.people'), 'number less'],
            [say('models.groupList.from'), after],
            mayWrite && <th aria-label={say('models.change')} />,
          ]}
        >
          {groups.map((group) => (
            <tr key={group.name}>
              <td className={group.enabled ? 'strong' : 'quiet'}>
                {group.name}
                {!group.enabled && ` (${say('models.disabled')})`}
              </td>
              <td className="number">{group.price_multiplier}</td>
              <td className="number less">{formats.count(group.models)}</td>
              <td className="number">{formats.count(group.keys)}</td>
              <td className="number less">{formats.count(group.people)}</td>
              <Origin entry={group} className={after} />
              {mayWrite && (
                <td className="number">
                  <RowMenu
                    label={`${say('models.change')} ${group.name}`}
                    actions={
                      group.editable
                        ? [
                            {
                              word: say('models.groupList.change'),
                              act: () => setOpen({ name: group.name, what: 'factor' }),
                            },
                            ...(group.name === usual
                              ? []
                              : [
                                  group.enabled
                                    ? {
                                        word: say('models.groupList.disable'),
                                        act: () => setOpen({ name: group.name, what: 'disable' }),
                                      }
                                    : {
                                        word: say('models.groupList.enable'),
                                        act: () => enable(group),
                                      },
                                ]),
                          ]
                        : []
                    }
                  />
                </td>
              )}
            </tr>
          ))}
        </Table>
      )}
      {opened !== undefined && open?.what === 'factor' && (
        <ChangeFactor
          of={opened}
          onClose={close}
          onChange={async (factor) => {
            const { name } = opened;
            const changed = await change(opened, { price_multiplier: factor });
            close();
            const text = { name, factor: changed.price_multiplier };
            setToast({ text: say('models.groupList.changed', text) });
          }}
        />
      )}
      {opened !== undefined && open?.what === 'disable' && (
        <DisableGroup
          of={opened}
          onClose={close}
          onDisable={async () => {
            const changed = await change(opened, { enabled: false });
            close();
            const undo = () => {
              setToast(null);
              enable(changed);
            };
            setToast({ text: say('models.groupList.disabled', { name: changed.name }), undo });
          }}
        />
      )}
      <Toast toast={toast} onEnd={endToast} />
    </div>
  );
}

interface FactorProps {
  readonly of: Group;
  readonly onClose: () => void;
  /** @throws ApiFailure */
  readonly onChange: (factor: string | null) => Promise<void>;
}

/** Another factor, with what it would have made of the last days. */
function ChangeFactor({ of: group, onClose, onChange }: FactorProps) {
  const say = useWords();
  const { csrf_token: token } = useSession();
  const sending = useWrite(['price_multiplier']);
  const [factor, setFactor] = useState(group.price_multiplier);
  return (
    <Dialog
      title={say('models.groupList.changeNamed', { name: group.name })}
      onClose={onClose}
      isWide
    >
      <form
        className={styles['form']}
        onChange={(event) =>
          setFactor(textOf(new FormData(event.currentTarget), 'price_multiplier') ?? '')
        }
        onSubmit={(event) => {
          event.preventDefault();
          sending.run(() => onChange(factor === '' ? null : factor));
        }}
      >
        <TextField
          name="price_multiplier"
          label={say('models.groupList.factor')}
          initial={group.price_multiplier}
          hint={say('models.groupList.factorHint')}
          sending={sending}
        />
        <PricePreview
          key={factor}
          sending={sending}
          ask={(days) => {
            const path = `/groups/${encodeURIComponent(group.name)}/preview`;
            // As a file without it means.
            const body = { price_multiplier: factor === '' ? '1' : factor, days };
            return write<'previewGroup'>('POST', path, body, token);
          }}
        />
        <FormEnd
          sending={sending}
          cancel={say('models.form.cancel')}
          submit={say('models.form.save')}
          onCancel={onClose}
        />
      </form>
    </Dialog>
  );
}

interface DisableProps {
  readonly of: Group;
  readonly onClose: () => void;
  /** @throws ApiFailure */
  readonly onDisable: () => Promise<void>;
}

/** Asks once, with what a disabled group would stop. */
function DisableGroup({ of: { name, keys, people, models }, onClose, onDisable }: DisableProps) {
  const say = useWords();
  const formats = useFormats();
  const sending = useWrite();
  const numbers = {
    keys: say('models.groupList.countKeys', { count: keys, number: formats.count(keys) }),
    people: say('models.groupList.countPeople', { count: people, number: formats.count(people) }),
    models: say('models.groupList.countModels', { count: models, number: formats.count(models) }),
  };
  return (
    <Dialog title={say('models.groupList.disableNamed', { name })} onClose={onClose}>
      <form
        className={styles['form']}
        onSubmit={(event) => {
          event.preventDefault();
          sending.run(onDisable);
        }}
      >
        <p className="strong">
          {keys === 0
            ? say('models.groupList.stopsNothing')
            : say('models.groupList.stops', numbers)}
        </p>
        <p>{say('models.groupList.disableText')}</p>
        <FormEnd
          sending={sending}
          cancel={say('models.form.cancel')}
          submit={say('models.groupList.disable')}
          onCancel={onClose}
        />
      </form>
    </Dialog>
  );
}
