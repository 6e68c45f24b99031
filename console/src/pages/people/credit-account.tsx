import { useState, type FormEvent } from 'react';
import { newCallName, write } from '../../api/client.ts';
import { useSession } from '../../app/session.ts';
import { exact, plus, toText } from '../../format/exact.ts';
import { Dialog } from '../../pieces/dialog.tsx';
import { FormEnd, TextField } from '../../pieces/fields.tsx';
import { textOf } from '../../pieces/form-values.ts';
import { Money } from '../../pieces/money.tsx';
import { useWrite } from '../../pieces/use-write.ts';
import { useWords } from '../../words/index.ts';
import styles from './page.module.css';

interface Props {
  readonly kind: 'user' | 'team';
  readonly id: string;
  readonly name: string;
  /** As it is now; decimal text in USD. */
  readonly balance: string;
  /** Receives what came of it, in a sentence. */
  readonly onBooked: (text: string) => void;
  readonly onClose: () => void;
}

/** A credit that was typed, before it is booked. */
interface Draft {
  /** Decimal text with two places at least. */
  readonly amount: string;
  readonly reason: string;
}

/** Adds to an account or takes from it. Money is not undone, so that it is looked at twice. */
export function CreditAccount({ kind, id, name, balance, onBooked, onClose }: Props) {
  const say = useWords();
  const { csrf_token: token } = useSession();
  const sending = useWrite(['amount', 'reason']);
  const [draft, setDraft] = useState<Draft>({ amount: '', reason: '' });
  const [isSecondLook, setSecondLook] = useState(false);
  const [isWrong, setWrong] = useState(false);
  // Sent again after a lost response, it is booked once. Another amount is another credit.
  const [call] = useState(newCallName);

  function look(event: FormEvent<HTMLFormElement>): void {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const amount = readAmount(textOf(form, 'amount') ?? '');
    const typed = textOf(form, 'amount') ?? '';
    setDraft({ amount: amount ?? typed, reason: textOf(form, 'reason') ?? '' });
    setWrong(amount === null);
    setSecondLook(amount !== null);
  }

  function book(event: FormEvent): void {
    event.preventDefault();
    const path = `/accounts/${kind}/${encodeURIComponent(id)}/credits`;
    const headers = { 'idempotency-key': `${call}${draft.amount}` };
    sending.run(async () => {
      const { balance: left } = await write<'credit'>('POST', path, draft, token, headers);
      onBooked(say('people.credit.done', { amount: toText(exact(left), 2) }));
    });
  }

  if (!isSecondLook) {
    const wrong = isWrong
      ? { ...sending, fields: [{ path: 'amount', message: say('people.credit.wrong') }] }
      : sending;
    return (
      <Dialog title={say('people.credit.title', { name })} onClose={onClose}>
        <form className={styles['form']} onSubmit={look}>
          <TextField
            name="amount"
            label={say('people.credit.amount')}
            hint={say('people.credit.amountHint')}
            initial={draft.amount}
            required
            sending={wrong}
          />
          <TextField
            name="reason"
            label={say('people.credit.reason')}
            hint={say('people.credit.reasonHint')}
            initial={draft.reason}
            required
            sending={sending}
          />
          <FormEnd
            sending={{ ...sending, problem: null }}
            cancel={say('people.cancel')}
            submit={say('people.credit.look')}
            onCancel={onClose}
          />
        </form>
      </Dialog>
    );
  }
  const isTaken = draft.amount.startsWith('-');
  const amount = draft.amount.replace('-', '');
  const after = toText(plus(exact(balance), exact(draft.amount)));
  return (
    <Dialog
      title={say(isTaken ? 'people.credit.takeFrom' : 'people.credit.giveTo', { amount, name })}
      onClose={onClose}
    >
      <form className={styles['form']} onSubmit={book}>
        <dl className={styles['facts']}>
          <dt>{say('people.credit.balance')}</dt>
          <dd>
            <Money amount={balance} /> → <Money amount={after} /> USD
          </dd>
          <dt>{say('people.credit.reason')}</dt>
          <dd>{draft.reason}</dd>
        </dl>
        <p className="hint">{say('people.credit.undone')}</p>
        {sending.fields.map(({ path, message }) => (
          <p key={path} className="problem" role="alert">
            {message}
          </p>
        ))}
        <FormEnd
          sending={sending}
          cancel={say('people.credit.back')}
          submit={say(isTaken ? 'people.credit.take' : 'people.credit.give', { amount })}
          onCancel={() => setSecondLook(false)}
        />
      </form>
    </Dialog>
  );
}

/** With two places at least; null: it is no amount, or nothing. */
function readAmount(text: string): string | null {
  try {
    const value = exact(text.replace(/^\+/, '').replace('−', '-'));
    return value.digits === 0n ? null : toText(value, 2);
  } catch {
    return null;
  }
}
