import { Rejection } from '../rejection.ts';

/**
 * What a server of an open model refuses because of the model's chat template. The simulator knows Qwen from 3.5 on by its
 * name, and any model with `system-first` in its name.
 * @param roles of all messages in order, instructions aside that stand in a member of their own
 * @param hasInstructions such a member is sent, and becomes the first message
 * @throws Rejection
 */
export function checkTemplate(
  model: string,
  roles: readonly unknown[],
  hasInstructions = false,
): void {
  if (!/qwen-?3\.[5-9]|system-first/i.test(model)) return;
  roles.forEach((role, index) => {
    if (role === 'developer') throw new Rejection(400, 'Unexpected message role.');
    if (role === 'system' && (index > 0 || hasInstructions)) {
      throw new Rejection(400, 'System message must be at the beginning.');
    }
  });
}
