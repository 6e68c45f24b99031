import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { read, write, type Result } from '../../api/client.ts';
import { useSession } from '../../app/session.ts';
import { useFormats } from '../../format/numbers.ts';
import { CodeField } from '../../pieces/code-field.tsx';
import { CopyButton } from '../../pieces/copy-button.tsx';
import { ErrorState, Skeleton } from '../../pieces/states.tsx';
import { ShortForm } from '../../pieces/fields.tsx';
import { textOf } from '../../pieces/form-values.ts';
import { useWrite } from '../../pieces/use-write.ts';
import { useWords } from '../../words/index.ts';
import styles from './page.module.css';
import { ProofForm } from './proof-form.tsx';
import { QrCode } from './qr-code.tsx';

export const factorKey = ['second-factor'] as const;

export function useSecondFactor() {
  return useQuery({
    queryKey: factorKey,
    queryFn: ({ signal }) => read<'readSecondFactor'>('/me/totp', {}, signal),
  });
}

/** The own second factor: none, being set up, just made, or in force. */
export function SecondFactor() {
  const say = useWords();
  const factor = useSecondFactor();
  /** The only places that hold them: they are forgotten with the page. */
  const [begun, setBegun] = useState<Result<'beginSecondFactor'> | null>(null);
  const [codes, setCodes] = useState<readonly string[] | null>(null);
  if (factor.isPending) return <Skeleton rows={2} />;
  if (factor.isError) {
    return <ErrorState error={factor.error} onRetry={() => void factor.refetch()} />;
  }
  if (codes !== null) return <RecoveryCodes codes={codes} onClose={() => setCodes(null)} />;
  if (factor.data.enabled) return <InForce factor={factor.data} />;
  if (!factor.data.has_password) return <p>{say('settings.factor.noPassword')}</p>;
  if (begun === null) return <Begin onBegun={setBegun} />;
  return (
    <Confirm
      begun={begun}
      onConfirmed={(shown) => {
        setBegun(null);
        setCodes(shown);
      }}
    />
  );
}

function Begin({ onBegun }: { readonly onBegun: (begun: Result<'beginSecondFactor'>) => void }) {
  const say = useWords();
  const { csrf_token: token } = useSession();
  return (
    <>
      <p>{say('settings.factor.none')}</p>
      <ProofForm
        submit={say('settings.factor.begin')}
        hasPassword
        onSend={async (proof) =>
          onBegun(await write<'beginSecondFactor'>('POST', '/me/totp', proof, token))
        }
      />
    </>
  );
}

interface ConfirmProps {
  readonly begun: Result<'beginSecondFactor'>;
  readonly onConfirmed: (codes: readonly string[]) => void;
}

function Confirm({ begun, onConfirmed }: ConfirmProps) {
  const say = useWords();
  const client = useQueryClient();
  const { csrf_token: token } = useSession();
  const sending = useWrite(['code']);

  async function confirm(form: FormData): Promise<void> {
    const code = textOf(form, 'code') ?? '';
    const shown = await write<'enableSecondFactor'>('PUT', '/me/totp', { code }, token);
    onConfirmed(shown.recovery_codes);
    await client.invalidateQueries({ queryKey: factorKey });
  }

  return (
    <ShortForm sending={sending} submit={say('settings.factor.confirm')} isMain onSend={confirm}>
      <p>{say('settings.factor.scan')}</p>
      <QrCode text={begun.uri} label={say('settings.factor.picture')} />
      <p className="hint">{say('settings.factor.typed')}</p>
      <p className={styles['once']}>
        <code>{begun.secret.replaceAll(/(.{4})(?=.)/g, '$1 ')}</code>
        <CopyButton text={begun.secret} label={say('settings.factor.copySecret')} />
      </p>
      <CodeField hint={say('settings.factor.codeHint')} sending={sending} />
    </ShortForm>
  );
}

interface RecoveryProps {
  readonly codes: readonly string[];
  readonly onClose: () => void;
}

function RecoveryCodes({ codes, onClose }: RecoveryProps) {
  const say = useWords();
  return (
    <>
      <p role="status">{say('settings.factor.done')}</p>
      <ul className={styles['codes']} aria-label={say('settings.factor.codes')}>
        {codes.map((code) => (
          <li key={code}>
            <code>{code}</code>
          </li>
        ))}
      </ul>
      <div className={styles['once']}>
        <CopyButton text={codes.join('\n')} label={say('settings.factor.copyCodes')} />
        <button type="button" className="button main" onClick={onClose}>
          {say('settings.factor.kept')}
        </button>
      </div>
    </>
  );
}

function InForce({ factor }: { readonly factor: Result<'readSecondFactor'> }) {
  const say = useWords();
  const formats = useFormats();
  const client = useQueryClient();
  const { csrf_token: token } = useSession();
  const count = factor.recovery_codes;
  return (
    <>
      <p>
        {factor.since !== null && say('settings.factor.since', { time: formats.day(factor.since) })}{' '}
        {say('settings.factor.left', { count, number: count })}
      </p>
      <ProofForm
        submit={say('settings.factor.end')}
        hasPassword
        onSend={async (proof) => {
          await write<'endSecondFactor'>('DELETE', '/me/totp', proof, token);
          await client.invalidateQueries({ queryKey: factorKey });
        }}
      />
    </>
  );
}
