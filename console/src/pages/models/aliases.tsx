import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState, type FormEvent } from 'react';
import { write } from '../../api/client.ts';
import { useSession } from '../../app/session.ts';
import { TextField } from '../../pieces/fields.tsx';
import { KnownNameField } from '../../pieces/known-fields.tsx';
import { placeText } from '../../pieces/place-in-file.ts';
import { ErrorState, Skeleton } from '../../pieces/states.tsx';
import { Toast, useToast } from '../../pieces/toast.tsx';
import { useWrite } from '../../pieces/use-write.ts';
import { useWords } from '../../words/index.ts';
import { textOf } from '../../pieces/form-values.ts';
import styles from './page.module.css';
import { aliasesQuery, catalogueQuery, type Alias, type Group } from './query.ts';

/** Other names for models. */
export function Aliases() {
  const say = useWords();
  const { permissions, csrf_token: token } = useSession();
  const client = useQueryClient();
  const list = useQuery(aliasesQuery);
  const models = useQuery(catalogueQuery).data?.data ?? [];
  const sending = useWrite(['name', 'model']);
  const { toast, setToast, endToast } = useToast();
  /** A form that was sent is a new one. */
  const [round, setRound] = useState(0);
  const mayWrite = permissions.includes('models.write');
  const reload = async () => {
    await client.invalidateQueries({ queryKey: aliasesQuery.queryKey });
    await client.invalidateQueries({ queryKey: ['models'] });
  };
  const pathOf = (name: string) => `/aliases/${encodeURIComponent(name)}`;

  function add(event: FormEvent<HTMLFormElement>): void {
    event.preventDefault();
    const fields = new FormData(event.currentTarget);
    const [name, model] = [textOf(fields, 'name') ?? '', textOf(fields, 'model') ?? ''];
    sending.run(async () => {
      await write<'putAlias'>('PUT', pathOf(name), { model }, token, { 'if-none-match': '*' });
      setRound((before) => before + 1);
      await reload();
      setToast({ text: say('models.aliases.added', { name, model }) });
    });
  }

  function remove({ name, model, revision }: Alias): void {
    sending.run(async () => {
      const headers = { 'if-match': `"${revision}"` };
      await write<'removeAlias'>('DELETE', pathOf(name), {}, token, headers);
      await reload();
      const undo = () => {
        setToast(null);
        sending.run(async () => {
          await write<'putAlias'>('PUT', pathOf(name), { model }, token, { 'if-none-match': '*' });
          await reload();
        });
      };
      setToast({ text: say('models.aliases.removed', { name }), undo });
    });
  }

  const aliases = list.data?.data ?? [];
  return (
    <div className="body">
      <p className={styles['note']}>{say('models.aliases.hint')}</p>
      {mayWrite && (
        <form key={round} className={styles['line']} onSubmit={add}>
          <TextField name="name" label={say('models.aliases.name')} required sending={sending} />
          <KnownNameField
            name="model"
            label={say('models.aliases.model')}
            names={models.map(({ id }) => id)}
            sending={sending}
          />
          <button type="submit" className="button main" disabled={sending.isBusy}>
            {say('models.aliases.add')}
          </button>
        </form>
      )}
      <p className="problem" role="alert">
        {sending.problem}
      </p>
      {list.isPending && <Skeleton rows={4} />}
      {list.isError && <ErrorState error={list.error} onRetry={() => void list.refetch()} />}
      {list.isSuccess && aliases.length === 0 && (
        <p className="state">{say('models.aliases.none')}</p>
      )}
      {aliases.length > 0 && (
        <table className="table">
          <thead>
            <tr>
              <th scope="col">{say('models.aliases.name')}</th>
              <th scope="col">{say('models.aliases.model')}</th>
              <th scope="col">{say('models.aliases.from')}</th>
              {mayWrite && <th scope="col" aria-label={say('models.aliases.remove')} />}
            </tr>
          </thead>
          <tbody>
            {aliases.map((alias) => (
              <tr key={alias.name}>
                <td>
                  <code>{alias.name}</code>
                </td>
                <td>
                  <code>{alias.model}</code>
                </td>
                <Origin entry={alias} />
                {mayWrite && (
                  <td className="number">
                    {alias.editable && (
                      <button
                        type="button"
                        className="button bare"
                        aria-label={`${say('models.aliases.remove')} ${alias.name}`}
                        disabled={sending.isBusy}
                        onClick={() => remove(alias)}
                      >
                        {say('models.aliases.remove')}
                      </button>
                    )}
                  </td>
                )}
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <Toast toast={toast} onEnd={endToast} />
    </div>
  );
}

/** Who manages an entry, and where the file has it. */
export function Origin({
  entry: { owner, declared_in: place },
  className = '',
}: {
  readonly entry: Alias | Group;
  readonly className?: string;
}) {
  const say = useWords();
  return (
    <td className={`second ${className}`}>
      {place === null
        ? say(
            `models.origins.${owner === 'file' ? 'file' : owner === 'console' ? 'console' : 'bundled'}`,
          )
        : placeText(place)}
    </td>
  );
}
