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
> {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Below `/admin/v1`; `:id` is a parameter. */
  readonly path: `/${string}`;
  readonly summary: string;
  /** 201 where a new object is made, 202 where work begins; absent: 200. */
  readonly status?: 201 | 202;
  /** `nobody`: it needs no session. */
  readonly permission: Permission | 'nobody';
  /** Whether the response is YAML, or may be. */
  readonly yaml?: true;
  readonly parameters: Parameters;
  readonly query: Query;
  readonly body: Body;
  readonly response: Response;
  /** A response; the document shows it. */
  readonly example: z.input<Response>;
}

/** Keeps the exact types of a route. */
export function defineRoute<
  Parameters extends z.ZodType,
  Query extends z.ZodType,
  Body extends z.ZodType,
  Response extends z.ZodType,
>(
  route: RouteContract<Parameters, Query, Body, Response>,
): RouteContract<Parameters, Query, Body, Response> {
  return Object.freeze(route);
}
