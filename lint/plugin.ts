import { growthOf } from './growth.ts';

/** As much of an ESTree node as the rules read. */
interface Node {
  readonly regex?: { readonly pattern: string; readonly flags: string };
  readonly callee?: { readonly type: string; readonly name?: string };
}

interface Context {
  report(finding: { readonly node: Node; readonly message: string }): void;
}

/**
 * Regular expressions take no more time than their text is long, whoever sends it. Where one cannot be written so, the
 * length of its text is checked first, and a comment that turns the rule off there says which bound holds.
 */
const linearExpression = {
  create(context: Context) {
    const checkCall = (node: Node): void => {
      if (node.callee?.type !== 'Identifier' || node.callee.name !== 'RegExp') return;
      context.report({ node, message: 'an expression is a literal, so that its growth is known' });
    };
    return {
      Literal(node: Node): void {
        if (node.regex === undefined) return;
        const growth = growthOf(node.regex.pattern, node.regex.flags);
        if (growth !== null) context.report({ node, message: `not linear: ${growth}` });
      },
      CallExpression: checkCall,
      NewExpression: checkCall,
    };
  },
};

/** Rules of our own, see `oxlint.config.ts`. */
export default {
  meta: { name: 'sluice' },
  rules: { 'linear-expression': linearExpression },
};
