import type { z } from 'zod';
import type { Permission } from './permissions.ts';

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

/** Keeps the exact types of a route. */
export function defineRoute<
  Parameters extends z.ZodType,
  Query extends z.ZodType,
  Body extends z.ZodType,
  Response extends z.ZodType,
  Needs extends Permission | 'nobody',
  Callers extends CallerKind = 'everybody',
>(
  route: RouteContract<Parameters, Query, Body, Response, Needs, Callers>,
): RouteContract<Parameters, Query, Body, Response, Needs, Callers> {
  return Object.freeze(route);
}
