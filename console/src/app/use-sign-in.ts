import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { ApiFailure } from '../api/client.ts';
import { rawTextOf, textOf } from '../pieces/form-values.ts';
import { signIn } from './session.ts';

/** Signing in with a password, and with a code where the person has a second factor. */
export function useSignIn() {
  const client = useQueryClient();
  const [problem, setProblem] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  const [needsCode, setNeedsCode] = useState(false);

  /** @returns whether the person is signed in now */
  async function attempt(email: string, form: FormData): Promise<boolean> {
    const code = textOf(form, 'code');
    const password = rawTextOf(form, 'password');
    setBusy(true);
    setProblem(null);
    try {
      await signIn(client, { email, password, ...(code !== null && { code }) });
      setNeedsCode(false);
      return true;
    } catch (error) {
      if (error instanceof ApiFailure && error.code === 'second_factor_required') {
        setNeedsCode(true);
      } else setProblem(error instanceof ApiFailure ? error.message : String(error));
      return false;
    } finally {
      setBusy(false);
    }
  }

  return { attempt, problem, isBusy, needsCode };
}
