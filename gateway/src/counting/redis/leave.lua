-- Gives slots back. KEYS: epoch, slots ... ARGV: epoch, time, id.
for at = 2, #KEYS do redis.call('ZREM', KEYS[at], ARGV[3]) end
return {'left'}
