import { timingSafeEqual } from 'node:crypto';
import { trimTrailing } from '#config/index.ts';
import type { Secrets } from '#database/index.ts';
import type { PresentedLink } from '#tasks/index.ts';

export type LinkVerdict = 'valid' | 'expired' | 'forged';

const signedText = (task: string, name: string, expires: number | string): string =>
  `${task}/${name}?${expires}`;

/** @param expiresAt Unix milliseconds */
export function signedLink(
  secrets: Pick<Secrets, 'signLink'>,
  publicUrl: string,
  { task, name, expiresAt }: { task: string; name: string; expiresAt: number },
): string {
  const expires = Math.floor(expiresAt / 1_000);
  const signature = secrets.signLink(signedText(task, name, expires));
  const base = trimTrailing(publicUrl, '/');
  return `${base}/v1/results/${task}/${name}?expires=${expires}&signature=${signature}`;
}

/** Whether a link is one of ours. How long that takes tells nothing about the signature. @param now Unix milliseconds */
export function judgeLink(
  secrets: Pick<Secrets, 'signLink'>,
  { task, name, expires, signature }: PresentedLink,
  now: number,
): LinkVerdict {
  const expectedSignature = Buffer.from(secrets.signLink(signedText(task, name, expires)));
  const presentedSignature = Buffer.from(signature);
  if (
    presentedSignature.length !== expectedSignature.length ||
    !timingSafeEqual(presentedSignature, expectedSignature)
  )
    return 'forged';
  return now < Number(expires) * 1_000 ? 'valid' : 'expired';
}
