import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { ApiFailure } from '../api/client.ts';
import { rawTextOf, textOf } from '../pieces/form-values.ts';
import { useWrite } from '../pieces/use-write.ts';
import { signIn } from './session.ts';

/** Signing in with a password, and with a code where the person has a second factor. */
export function useSignIn() {
  const client = useQueryClient();
  const sending = useWrite(['email', 'password', 'code']);
  const [needsCode, setNeedsCode] = useState(false);

  /** @returns whether the person is signed in now; false: a code is needed. @throws ApiFailure */
  async function attempt(email: string, form: FormData): Promise<boolean> {
    const code = textOf(form, 'code');
    const password = rawTextOf(form, 'password');
    try {
      await signIn(client, { email, password, ...(code !== null && { code }) });
    } catch (error) {
      if (!(error instanceof ApiFailure) || error.code !== 'second_factor_required') throw error;
      setNeedsCode(true);
      return false;
    }
    setNeedsCode(false);
    return true;
  }

  return { attempt, sending, needsCode };
}
