import { useEffect, useRef, useState } from 'react';
import { read, type Query } from '../../api/client.ts';
import { useFormats } from '../../format/numbers.ts';
import { Icon } from '../../pieces/icon.tsx';
import { useWords } from '../../words/index.ts';
import { exportAddress, saveExport } from './export.ts';

type Progress = { readonly lines: number; readonly total: number | null } | 'failed' | null;

/** All requests of a filter as a file. While it comes, the link says how far it is; pressed again, it stops. */
export function ExportLink({ query }: { readonly query: Omit<Query<'exportUsage'>, 'format'> }) {
  const say = useWords();
  const formats = useFormats();
  const [progress, setProgress] = useState<Progress>(null);
  const running = useRef<AbortController>(null);
  useEffect(() => () => running.current?.abort(), []);

  async function run(address: string): Promise<void> {
    const stop = new AbortController();
    running.current = stop;
    let total: number | null = null;
    setProgress({ lines: 0, total });
    void read<'readHistogram'>('/usage/histogram', query, stop.signal).then(
      ({ data }) => (total = data.reduce((sum, { requests }) => sum + requests, 0)),
      ignore,
    );
    try {
      await saveExport(address, stop.signal, (lines) => setProgress({ lines, total }));
      setProgress(null);
    } catch {
      setProgress(stop.signal.aborted ? null : 'failed');
    } finally {
      running.current = null;
    }
  }

  const text =
    progress === null
      ? 'CSV'
      : progress === 'failed'
        ? say('data.exportFailed')
        : progress.total === null
          ? formats.count(progress.lines)
          : say('data.exported', {
              number: formats.count(progress.lines),
              total: formats.count(progress.total),
            });
  const isRunning = progress !== null && progress !== 'failed';
  return (
    <a
      className="button"
      href={exportAddress(query)}
      download
      onClick={(event) => {
        event.preventDefault();
        if (running.current === null) void run(event.currentTarget.href);
        else running.current.abort();
      }}
    >
      <Icon name={isRunning ? 'close' : 'down'} />
      {text}
      <span className="hidden"> {say(isRunning ? 'data.exportStop' : 'data.export')}</span>
    </a>
  );
}

const ignore = () => undefined;
