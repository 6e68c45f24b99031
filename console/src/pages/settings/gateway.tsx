import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { read, type Result } from '../../api/client.ts';
import { SearchField } from '../../pieces/search-field.tsx';
import { ErrorState, Skeleton } from '../../pieces/states.tsx';
import { useKeys } from '../../pieces/use-keys.ts';
import { useWords } from '../../words/index.ts';
import styles from './gateway.module.css';
import { PlanOfText } from './plan-of-text.tsx';
import { originText, valueText } from './setting-text.ts';

type Configuration = Result<'readConfiguration'>;
type Setting = Configuration['settings'][number];

/** As `docs/configuration.md` groups them. */
const groups = [
  ['server'],
  ['storage', 'redis', 'secrets', 'admin'],
  ['journal', 'limits', 'retention', 'billing', 'metrics', 'console'],
  ['oidc'],
  ['timeouts'],
  ['video'],
];

const sectionOf = ({ name }: Setting): string => name.slice(0, Math.max(0, name.indexOf('.')));

/** What is in force, and where each setting is from; what is declared as a file; and what another file would change. */
export function Gateway() {
  const say = useWords();
  const [search, setSearch] = useState('');
  const [isChangedOnly, setChangedOnly] = useState(false);
  const found = useQuery({
    queryKey: ['configuration'],
    queryFn: ({ signal }) => read<'readConfiguration'>('/config', {}, signal),
  });
  useKeys({ '/': () => document.getElementById('setting-search')?.focus() });
  if (found.isPending) return <Skeleton rows={12} />;
  if (found.isError) {
    return <ErrorState error={found.error} onRetry={() => void found.refetch()} />;
  }
  const { file, settings, waiting } = found.data;
  const shown = settings.filter(
    (setting) =>
      (!isChangedOnly || differs(setting)) &&
      `${setting.name} ${valueText(setting)} ${originText(setting, file)}`
        .toLowerCase()
        .includes(search.trim().toLowerCase()),
  );
  // What the environment alone gives is in no section.
  const others = [...new Set(settings.map(sectionOf))].filter(
    (each) => !groups.flat().includes(each),
  );
  const parts = [...groups, ...others.map((each) => [each])].map((sections) => ({
    name: sections.join(', '),
    settings: shown.filter((setting) => sections.includes(sectionOf(setting))),
  }));
  return (
    <>
      <p className={styles['lead']}>
        {file === null ? say('settings.config.noFile') : say('settings.config.ofFile', { file })}
      </p>
      <div className={styles['tools']}>
        <SearchField
          id="setting-search"
          label={say('settings.config.search')}
          hint={say('settings.config.search')}
          value={search}
          onChange={setSearch}
        />
        <label className={styles['tick']}>
          <input
            type="checkbox"
            checked={isChangedOnly}
            onChange={({ target }) => setChangedOnly(target.checked)}
          />
          {say('settings.config.changedOnly')}
        </label>
        <a className="button" href="/admin/v1/config/export" download="sluice.yaml">
          {say('settings.config.export')}
        </a>
      </div>
      {waiting.length > 0 && (
        <p className={styles['waiting']} role="status">
          {say('settings.config.waiting', { count: waiting.length })} {waiting.join(', ')}
        </p>
      )}
      {shown.length === 0 && <p className="state">{say('settings.config.noMatch')}</p>}
      {parts
        .filter((part) => part.settings.length > 0)
        .map(({ name, settings: own }) => (
          <section key={name} className={styles['group']}>
            <h2 className="title">
              {name === '' ? say('settings.config.environment') : <code>{name}</code>}
            </h2>
            <Table settings={own} file={file} />
          </section>
        ))}
      <PlanOfText file={file ?? 'sluice.yaml'} />
    </>
  );
}

/** Whether somebody has set it to something else than its default. */
const differs = ({ origin, value, usual, secret }: Setting): boolean =>
  origin.from !== 'default' && (secret || JSON.stringify(value) !== JSON.stringify(usual));

function Table({
  settings,
  file,
}: {
  readonly settings: readonly Setting[];
  readonly file: string | null;
}) {
  const say = useWords();
  return (
    <table className={`table ${styles['settings']}`}>
      <thead>
        <tr>
          <th scope="col">{say('settings.config.columns.name')}</th>
          <th scope="col">{say('settings.config.columns.value')}</th>
          <th scope="col" className="less">
            {say('settings.config.columns.usual')}
          </th>
          <th scope="col">{say('settings.config.columns.origin')}</th>
        </tr>
      </thead>
      <tbody>
        {settings.map((setting) => (
          <tr key={setting.name}>
            <th scope="row">
              <code>{setting.name}</code>
            </th>
            <td>
              <Value of={setting} isStrong={differs(setting)} />
            </td>
            <td className="less second">
              {differs(setting) && !setting.secret && (
                <Value of={{ ...setting, value: setting.usual }} />
              )}
            </td>
            <td className={setting.origin.from === 'default' ? 'quiet' : ''}>
              {setting.origin.from === 'default' ? (
                say('settings.config.default')
              ) : (
                <code>{originText(setting, file)}</code>
              )}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Value({
  of: setting,
  isStrong = false,
}: {
  readonly of: Setting;
  readonly isStrong?: boolean;
}) {
  const say = useWords();
  const text = valueText(setting);
  const look = isStrong ? 'strong' : '';
  if (text === '') return <span className={look}>{say('settings.config.set')}</span>;
  return <code className={look}>{text}</code>;
}
