import { lazyRouteComponent, useRouter } from '@tanstack/react-router';
import { useEffect, type ComponentType } from 'react';
import { ErrorState } from '../pieces/states.tsx';
import { useWords } from '../words/index.ts';
import { lookEvery } from './link-state.tsx';

/** The program of a page did not arrive: the gateway is away, or another version of it has other files. */
class PageNotLoaded extends Error {
  override readonly name = 'PageNotLoaded';
}

/** The page that was loaded anew because its program was missing. */
const reloaded = 'sluice-reloaded';

/**
 * A page whose program loads when it is opened. A page names the type of what it returns: the type of the router would
 * otherwise depend on itself.
 */
export function lazyPage<Name extends string>(
  load: () => Promise<Readonly<Record<Name, ComponentType>>>,
  name: Name,
) {
  return lazyRouteComponent(async () => {
    try {
      const loaded = await load();
      sessionStorage.removeItem(reloaded);
      return loaded;
    } catch (cause) {
      throw new PageNotLoaded('', { cause });
    }
  }, name);
}

/**
 * In the place of a page that failed, inside the frame. It is tried again by itself; once the gateway answers, the
 * console loads anew, at most once for each page, because only then it knows the files of another version.
 */
export function PageFailed({ error }: { readonly error: unknown }) {
  const say = useWords();
  const router = useRouter();
  const isMissing = error instanceof PageNotLoaded;

  useEffect(() => {
    if (!isMissing) return undefined;
    const again = async () => {
      const path = location.pathname;
      const answer = await fetch('/console/', { cache: 'no-store' }).catch(() => null);
      if (answer?.ok !== true) return;
      if (sessionStorage.getItem(reloaded) === path) {
        await router.invalidate();
        return;
      }
      sessionStorage.setItem(reloaded, path);
      location.reload();
    };
    void again();
    const timer = setInterval(() => void again(), lookEvery);
    return () => clearInterval(timer);
  }, [isMissing, router]);

  return (
    <div className="body">
      <ErrorState
        error={isMissing ? say('states.pageMissing') : error}
        onRetry={() => void router.invalidate()}
      />
    </div>
  );
}
