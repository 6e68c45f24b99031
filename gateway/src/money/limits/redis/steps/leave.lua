-- Gives slots back. keys: slots ... values: id.
for at = 1, #keys do redis.call('ZREM', keys[at], values[1]) end
return {'left'}
