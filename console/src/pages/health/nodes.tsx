import { useFormats } from '../../format/numbers.ts';
import { Icon } from '../../pieces/icon.tsx';
import { Table } from '../../pieces/table.tsx';
import { useWords } from '../../words/index.ts';
import styles from './page.module.css';
import type { Health } from './sentences.ts';

type Node = NonNullable<Health['nodes']>[number];

/** Every process of the fleet, as it said with its last sign of life. */
export function Nodes({ nodes, version }: Pick<Health, 'nodes' | 'version'>) {
  const say = useWords();
  return (
    <section className={styles['section']}>
      <h2 className="title">
        {say('health.nodes')} <small className="quiet">{say('health.nodesHint')}</small>
      </h2>
      {nodes === null ? (
        <p className="quiet">{say('health.nodesUnknown')}</p>
      ) : (
        <Table
          label={say('health.nodes')}
          className={`stacks ${styles['nodes']}`}
          heads={[
            say('health.node'),
            say('health.state'),
            say('health.version'),
            [say('health.underWay'), 'number'],
            [say('health.lag'), 'number'],
            [say('health.memory'), 'number'],
            [say('health.inJournal'), 'number'],
            [say('health.lastSign'), 'number'],
          ]}
        >
          {nodes.map((node) => (
            <Row key={node.id} node={node} version={version} />
          ))}
        </Table>
      )}
    </section>
  );
}

function Row({ node, version }: { readonly node: Node; readonly version: string }) {
  const say = useWords();
  const formats = useFormats();
  const { id, current, state, started, journal, silent_ms: silence } = node;
  return (
    <tr>
      <td data-column="node" title={say('health.runsSince', { time: formats.time(started) })}>
        {state !== null && <code className="strong">{state.host}</code>}{' '}
        <span className="quiet">
          {state?.worker == null
            ? id
            : say('health.worker', { node: state.worker.of, number: state.worker.number })}
        </span>
        {current && <span className="second"> {say('health.thisOne')}</span>}
      </td>
      <td data-column="state">
        <NodeState node={node} version={version} />
      </td>
      <td data-column="version">{state?.version ?? '–'}</td>
      <td className="number" data-column="underWay">
        <Figure name={say('health.underWay')}>
          {state === null ? '–' : formats.count(state.under_way)}
        </Figure>
      </td>
      <td className="number" data-column="lag">
        <Figure name={say('health.lag')}>
          {state === null ? '–' : formats.duration(state.lag_ms)}
        </Figure>
      </td>
      <td className="number" data-column="memory">
        <Figure name={say('health.memory')}>
          {state === null ? (
            '–'
          ) : (
            <>
              {formats.count(Math.round(state.memory.rss / 1e6))} <span className="quiet">MB</span>
            </>
          )}
        </Figure>
      </td>
      <td className="number" data-column="journal">
        <Figure name={say('health.inJournal')}>
          {formats.count(state?.journal.depth ?? journal)}
        </Figure>
      </td>
      <td className="number" data-column="sign">
        {silence < 1_000
          ? say('health.justNow')
          : say('health.ago', {
              time:
                silence < 60_000 ? `${Math.round(silence / 1_000)} s` : formats.duration(silence),
            })}
      </td>
    </tr>
  );
}

/** A figure, with its name where a table has lines instead of columns. */
function Figure({ name, children }: { readonly name: string; readonly children: React.ReactNode }) {
  return (
    <>
      <span className={styles['name']} aria-hidden="true">
        {name}{' '}
      </span>
      {children}
    </>
  );
}

const shapes = { fine: 'tick', warned: 'warning', failed: 'cross', neutral: 'ring' } as const;

/** The worst of what a node says about itself. */
function NodeState({ node, version }: { readonly node: Node; readonly version: string }) {
  const say = useWords();
  const formats = useFormats();
  const { live, state, silent_ms: silence } = node;
  const show = (look: keyof typeof shapes, text: string, title?: string) => (
    <span className={`outcome ${look}`} title={title}>
      <Icon name={shapes[look]} size={12} />
      <span>{text}</span>
    </span>
  );
  if (!live) return show('failed', say('health.silent', { time: formats.duration(silence) }));
  if (state === null) return show('neutral', say('health.unknown'), say('health.unknownHint'));
  if (!state.journal.usable) return show('failed', say('health.journalStopped'));
  if (state.version !== version) return show('warned', say('health.otherVersion'));
  if (state.degraded.length > 0) return show('warned', state.degraded.join(', '));
  const { count, first } = state.channels;
  return (
    <>
      {show('fine', say('health.live'))}
      {count > 0 && (
        <span className="second" title={first.map(({ name }) => name).join(', ')}>
          {' '}
          {say('health.notWell', { count })}
        </span>
      )}
    </>
  );
}
