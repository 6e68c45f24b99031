import type { z } from 'zod';
import type { Permission } from './permissions.ts';
import { nothing } from './values.ts';

/**
 * One call of the console's API, as data: what is checked, what is returned, and what the documentation shows come from
 * it. Only members that `response` declares leave the gateway.
 */
export interface RouteContract<
  Parameters extends z.ZodType = z.ZodType,
  Query extends z.ZodType = z.ZodType,
  Body extends z.ZodType = z.ZodType,
  Response extends z.ZodType = z.ZodType,
  Needs extends Permission | 'nobody' = Permission | 'nobody',
  Callers extends CallerKind = CallerKind,
> {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Below `/admin/v1`; `:id` is a parameter. */
  readonly path: `/${string}`;
  readonly summary: string;
  /** 201 where a new object is made, 202 where work begins, 303 where the browser goes elsewhere; absent: 200. */
  readonly status?: 201 | 202 | 303;
  /** `nobody`: it needs no session. */
  readonly permission: Needs;
  /** Whether the response is YAML, or may be. */
  readonly yaml?: true;
  /** `people`: programs with an admin key are refused. Absent: everybody with the permission may call it. */
  readonly callers?: Callers;
  readonly parameters: Parameters;
  readonly query: Query;
  readonly body: Body;
  readonly response: Response;
  /** A response; the document shows it. */
  readonly example: z.input<Response>;
}

/** Who a route may be for. */
export type CallerKind = 'people' | 'everybody';

/** A route as it is declared: absent inputs are empty. */
type RouteDeclaration<Route extends RouteContract> = Omit<Route, Input> &
  Partial<Pick<Route, Input>>;
type Input = 'parameters' | 'query' | 'body';

/** Keeps the exact types of a route. Parameters, query and body that it does not declare have no members. */
export function defineRoute<
  Parameters extends z.ZodType = typeof nothing,
  Query extends z.ZodType = typeof nothing,
  Body extends z.ZodType = typeof nothing,
  Response extends z.ZodType = z.ZodType,
  Needs extends Permission | 'nobody' = 'nobody',
  Callers extends CallerKind = 'everybody',
>(
  route: RouteDeclaration<RouteContract<Parameters, Query, Body, Response, Needs, Callers>>,
): RouteContract<Parameters, Query, Body, Response, Needs, Callers> {
  const inputs = { parameters: nothing, query: nothing, body: nothing, ...route };
  return Object.freeze(inputs as RouteContract<Parameters, Query, Body, Response, Needs, Callers>);
}
