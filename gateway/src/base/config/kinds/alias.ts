import { name } from '../leaf.ts';
import { defineKind, member, text } from './kind.ts';

/** The file has it as a mapping of names to models, which `rules/aliases.ts` reads. */
export const alias = defineKind('alias', {
  name: member(text(name('a model name')), { identity: true }),
  model: member(text(name('a model id')), { refersTo: 'model' }),
});
